"""deepeval: a G-Eval metric whose steps are given, so that it asks once a case."""

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, LLMTestCaseParams

url, cases, scores, slots = sys.argv[1:]
metric = GEval(
    name="supported",
    model=LocalModel(model="bench", base_url=url, api_key="unused", temperature=0),
    evaluation_steps=["Tell whether the actual output is supported by the expected output."],
    evaluation_params=[LLMTestCaseParams.ACTUAL_OUTPUT, LLMTestCaseParams.EXPECTED_OUTPUT],
)
read = [json.loads(line) for line in Path(cases).read_text().splitlines()]
done = evaluate(
    [
        LLMTestCase(name=case["id"], input="", actual_output=case["answer"], expected_output=case["reference"])
        for case in read
    ],
    [metric],
    async_config=AsyncConfig(max_concurrent=int(slots)),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    cache_config=CacheConfig(write_cache=False),
)
lines = (json.dumps({"id": one.name, "score": one.metrics_data[0].score}) for one in done.test_results)
Path(scores).write_text("\n".join(lines))
