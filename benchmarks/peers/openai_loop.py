"""A loop of one's own with the openai package, each score written as it comes."""

import asyncio
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI

url, cases, scores, slots = sys.argv[1:]


async def main() -> None:
    waiting = iter([json.loads(line) for line in Path(cases).read_text().splitlines()])
    with Path(scores).open("w") as kept:
        async with AsyncOpenAI(base_url=url) as client:

            async def judge() -> None:
                for case in waiting:
                    question = {"role": "user", "content": case["prompt"]}
                    reply = await client.chat.completions.create(model="bench", messages=[question], temperature=0)
                    said = json.loads(reply.choices[0].message.content)
                    kept.write(json.dumps({"id": case["id"], "score": float(said["label"] == "good"), **said}) + "\n")

            await asyncio.gather(*(judge() for _ in range(int(slots))))


asyncio.run(main())
