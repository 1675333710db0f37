"""The rehearsal in the place of a system: it answers a prompt with what the prompt itself holds.

It takes the sentences of the material that share most words with the question, and says so where there are none. Which
of several models is asked, and how, makes some difference, so that systems can be told apart: on SLIP_SHARE of all
messages it takes the next best sentence.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evalstudio.calls.likeness import stems

SLIP_SHARE = 0.15
MOST_SENTENCES = 2
MOST_READ = 20_000  # characters of a message
NOTHING = "I have nothing to go by for this."
_ENDS = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z0-9“\"'(])|\n+")
_MARKUP = re.compile(r"^[ \t]*(?:[#>*-]+[ \t]+)?(?:[A-Z][\w ]{0,30}:[ \t]*)?$|^</?\w+[^>]*>$")
_NAMES = re.compile(r'["`]([A-Za-z_]\w{0,40})["`]')


def answer(messages: Sequence[Mapping[str, str]], manner: str) -> str:
    """The answer to messages of plain text; `manner` is model and parameters. JSON where the messages ask for it."""
    texts = [str(message.get("content") or "")[:MOST_READ] for message in messages]
    said = _said(texts[-1] if texts else "", texts[:-1], _slips("\0".join([manner, *texts])))
    asked = "\n".join(texts)
    if "json" not in asked.casefold():
        return said
    names = list(dict.fromkeys(_NAMES.findall(asked))) or ["answer"]
    return json.dumps(dict.fromkeys(names, said), ensure_ascii=False)


def _said(last: str, before: Sequence[str], slips: bool) -> str:
    """What is asked stands in the last line, or in the last paragraph."""
    parts = [re.split(split, last.strip())[-1] for split in (r"\n", r"\n[ \t]*\n")]
    for asked in dict.fromkeys(parts):
        material = [each for text in (last.strip().removesuffix(asked), *before) for each in _sentences(text)]
        told = {each: len(stems(each) & stems(asked)) for each in material}
        best = sorted((each for each, shared in told.items() if shared), key=lambda each: -told[each])
        if best:
            chosen = best[1:2] or best if slips else best[:MOST_SENTENCES]
            return " ".join(each for each in told if each in chosen)
    return NOTHING


def _sentences(text: str) -> list[str]:
    pieces = (piece.strip() for piece in _ENDS.split(_unwrapped(text)))
    return [piece for piece in pieces if piece and not _MARKUP.match(piece)]


def _unwrapped(text: str) -> str:
    """Values that were written out as JSON as the texts in them, so that they read as sentences."""
    return re.sub(r'[{}\[\]"]+(?:, "?\w+"?: "?)?', "\n", text) if '": "' in text else text


def _slips(text: str) -> bool:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < SLIP_SHARE * 2**64


def is_asked_to_judge(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> bool:
    """Whether messages want a verdict on something: they mark what it is about, or say that they do."""
    texts = [str(message.get("content") or "") for message in messages]
    return schema is not None or not texts or any("<data path=" in text for text in texts) or "You judge" in texts[0]
