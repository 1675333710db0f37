"""ragas: a discrete metric over its instructor client, scored by as many coroutines as calls may be open."""

import asyncio
import json
import sys
from pathlib import Path

import instructor
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics import DiscreteMetric

url, cases, scores, slots = sys.argv[1:]


async def main() -> None:
    judge = llm_factory("bench", client=AsyncOpenAI(base_url=url), mode=instructor.Mode.JSON)
    metric = DiscreteMetric(name="supported", prompt="{question}", allowed_values=["good", "bad"])
    waiting = iter([json.loads(line) for line in Path(cases).read_text().splitlines()])
    with Path(scores).open("w") as kept:

        async def score() -> None:
            for case in waiting:
                result = await metric.ascore(llm=judge, question=case["prompt"])
                kept.write(json.dumps({"id": case["id"], "score": float(result.value == "good")}) + "\n")

        await asyncio.gather(*(score() for _ in range(int(slots))))


asyncio.run(main())
