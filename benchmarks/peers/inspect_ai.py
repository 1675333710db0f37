"""inspect-ai: a task whose samples are answered already, and a scorer that asks the judge; the log is its own."""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver

url, cases, scores, slots = sys.argv[1:]
config = GenerateConfig(max_connections=int(slots), temperature=0)
judge = get_model("openai-api/local/bench", base_url=url, api_key="unused", config=config)


@solver
def answered():
    async def solve(state, generate):
        return state

    return solve


@scorer(metrics=[mean()])
def judged():
    async def score(state, target):
        said = json.loads((await judge.generate(state.input_text)).completion)
        return Score(value=float(said["label"] == "good"), explanation=said["reason"])

    return score


read = [json.loads(line) for line in Path(cases).read_text().splitlines()]
task = Task(
    dataset=[Sample(id=case["id"], input=case["prompt"], target=case["reference"]) for case in read],
    solver=answered(),
    scorer=judged(),
)
[log] = evaluate(task, model=judge, max_samples=int(slots), log_dir="inspect-logs", display="none")
lines = (json.dumps({"id": one.id, "score": one.scores["judged"].value}) for one in log.samples or [])
Path(scores).write_text("\n".join(lines))
