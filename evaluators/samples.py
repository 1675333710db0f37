"""A sample as people paste it: JSON with the names that prompts and heuristics use."""

from __future__ import annotations

from typing import Any

import orjson

from evalstudio.web.foreign import is_too_deep
from evaluators.core import COMPARISON, PARTS, PROCESSED, Comparand, Sample
from evaluators.paths import nearest

MOST_CHARACTERS = 1_000_000


class NotASample(ValueError):
    """The text is no sample; the message says why, `line` (from 1) says where when that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def read_sample(text: str, pasted_outputs: str = "", pasted_comparison: str = "") -> Sample:
    """The sample in a JSON object with some of inputs, expectedOutputs, outputs, steps, metadata and comparison.

    Pasted outputs take the place of the object's own, and of those under `comparison`: a JSON object as it stands, any
    other text as {"value": text}. Raises NotASample.
    """
    parts = _read_object(text)
    for name in parts:
        if name == PROCESSED:
            raise NotASample("“processed” is made by the project's processor. Leave it out: it is made again.")
        if name not in PARTS:
            raise NotASample(f"“{name}” is no part of a sample. {_nearest(name)}")
    if pasted_outputs.strip():
        parts["outputs"] = _read_outputs(pasted_outputs)
    return Sample(
        inputs=parts.get("inputs"),
        expected_outputs=parts.get("expectedOutputs"),
        outputs=parts.get("outputs"),
        steps=parts.get("steps"),
        metadata=parts.get("metadata"),
        comparison=_comparand(parts.get(COMPARISON), pasted_comparison),
    )


def _comparand(found: Any, pasted: str) -> Comparand | None:
    if found is None and not pasted.strip():
        return None
    found = {} if found is None else found
    if not isinstance(found, dict) or not set(found) <= {"outputs", "steps"}:
        raise NotASample('“comparison” is the other output, {"outputs": {…}, "steps": […]}.')
    if pasted.strip():
        return Comparand(_read_outputs(pasted))  # the steps would be those of another output
    return Comparand(found.get("outputs"), found.get("steps"))


def _read_object(text: str) -> dict[str, Any]:
    if not text.strip():
        raise NotASample('Choose a case, or paste a sample such as {"inputs": {…}, "outputs": {…}}.')
    if len(text) > MOST_CHARACTERS:
        raise NotASample(f"A sample may have {MOST_CHARACTERS:,} characters; this one has {len(text):,}.")
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise NotASample(f"Line {error.lineno}, column {error.colno}: {error.msg}.", error.lineno) from None
    if is_too_deep(found):
        raise NotASample("The JSON is nested too deeply.")
    if not isinstance(found, dict):
        raise NotASample('A sample is a JSON object such as {"inputs": {…}, "outputs": {…}}.')
    return found


def _read_outputs(text: str) -> Any:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"value": text}
    return found if isinstance(found, dict) and not is_too_deep(found) else {"value": text}


def _nearest(name: str) -> str:
    near = nearest(name, PARTS)
    return f"Did you mean “{near}”?" if near else f"The parts are {', '.join(PARTS)}."
