"""promptfoo: answers passed on by its echo provider, judged by its llm-rubric."""

import json
import os
import subprocess
import sys
from pathlib import Path

url, cases, scores, slots = sys.argv[1:]
judge = {"id": "openai:chat:bench", "config": {"apiBaseUrl": url, "temperature": 0}}
config = {
    "prompts": ["{{answer}}"],
    "providers": ["echo"],
    "defaultTest": {
        "options": {"provider": judge},
        "assert": [{"type": "llm-rubric", "value": "The answer is supported by: {{reference}}"}],
    },
    "tests": [
        {"description": case["id"], "vars": {"answer": case["answer"], "reference": case["reference"]}}
        for case in map(json.loads, Path(cases).read_text().splitlines())
    ],
}
Path("promptfooconfig.json").write_text(json.dumps(config))
words = ["eval", "-c", "promptfooconfig.json", "-o", "promptfoo.json", "-j", slots]
quiet = ["--no-cache", "--no-progress-bar", "--no-table"]
home = {"PROMPTFOO_CONFIG_DIR": str(Path("promptfoo").absolute()), "PROMPTFOO_DISABLE_UPDATE": "1"}
subprocess.run([os.environ["PROMPTFOO"], *words, *quiet], check=True, env={**os.environ, **home})
results = json.loads(Path("promptfoo.json").read_text())["results"]["results"]
lines = (json.dumps({"id": one["testCase"]["description"], "score": float(one["score"])}) for one in results)
Path(scores).write_text("\n".join(lines))
