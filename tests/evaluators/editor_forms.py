"""What the editor posts, as people type it, for tests of its pages."""

from __future__ import annotations

import json
from typing import Any

from evalstudio.calls.models import REHEARSAL_URL, Connection
from evalstudio.projects.models import Project

PROMPT = "Is this right?\n{{ inputs.question }}\n{{ outputs.value }}\nThe truth:\n{{ expectedOutputs.value }}"
SAMPLE = {
    "inputs": {"question": "When do I get my money back?"},
    "expectedOutputs": {"value": "Within 7 working days of the cancellation."},
    "outputs": {"value": "Within 7 working days of the cancellation."},
}
LENGTH = """function evaluate({ outputs }) {
  console.log("words", outputs.value.split(" ").length);
  return outputs.value.length < 80 ? 1 : 0;
}"""


def rehearsal(project: Project) -> Connection:
    return Connection.objects.create(project=project, name="Rehearsal", base_url=REHEARSAL_URL, model="rehearsal")


def judge_fields(connection: Connection, **more: Any) -> dict[str, Any]:
    """A judge with two options, as typed."""
    return {
        "name": "Right answer",
        "note": "",
        "base": "",
        "evaluator": "",
        "kind": "judge",
        "draft": "k1",
        "prompt": PROMPT,
        "guide": "",
        "model": f"{connection.pk}:{connection.model}",
        "runs_on": "result",
        "both_orders": "on",
        "scoring": "enum",
        "option_label": ["Right", "Wrong"],
        "option_percentage": ["100", "0"],
        "option_description": ["It says what is expected.", "It says something else."],
        "threshold": "50",
        "direction": "higher",
        "temperature": "0",
        "max_tokens": "1024",
        "seed": "",
    } | more


def heuristic_fields(**more: Any) -> dict[str, Any]:
    return {
        "name": "Short",
        "note": "",
        "base": "",
        "evaluator": "",
        "kind": "heuristic",
        "draft": "k2",
        "code": LENGTH,
        "runs_on": "result",
        "scoring": "percentage",
        "option_label": [],
        "option_percentage": [],
        "option_description": [],
        "threshold": "",
        "direction": "higher",
        "seed": "0",
    } | more


def on_pasted(fields: dict[str, Any], sample: Any = SAMPLE) -> dict[str, Any]:
    """The fields with a pasted sample, as the bench posts them."""
    text = sample if isinstance(sample, str) else json.dumps(sample)
    return fields | {"sample_from": "paste", "pasted_sample": text}
