"""The panel of one pair: both answers with their differences, their steps, and what every evaluator said of either."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from evalstudio.files.attachments import attachments_in
from evalstudio.files.pictures import pictures_in
from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Project, Role
from experiments.analysis import reading
from experiments.analysis.comparing.cases import Row, texts_of
from experiments.analysis.comparing.judges import Judges
from experiments.analysis.comparing.kept import Comparison
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.names import FLAGS, HAS_ERROR, OUTPUTS
from experiments.analysis.peek import verdicts
from experiments.models import Case, Output
from experiments.views.peeks import grade_url, pictures_of, tags_of

WORDS_OF_TEXTS = {"side": "Side by side", "inline": "Inline", "plain": "Plain"}


def peeked(
    request: ProjectRequest, ctx: dict[str, Any], found: Comparison, listed: Listing, row: Row
) -> dict[str, Any]:
    """What the panel of one pair shows."""
    view, slug, output = ctx["view"], request.project.slug, row.output.pk
    case, text = row.output.case, texts_of(row, view.text)
    turned = "inline" if view.text == "side" else "side"
    return {
        "row": row,
        "turned_query": urlencode(request.GET.dict() | {"text": turned, "peek": output}),
        "output": row.output,
        "place": listed.neighbours(output),
        "next_error": next_error(found, output),
        "tags": tags_of(case.metadata),
        "inputs": reading.parts(case.inputs),
        "expected": reading.parts(case.expected_outputs),
        "expected_calls": reading.tool_calls(case.expected_outputs),
        "pictures": pictures_of(slug, row.output),
        "attachments": attachments_in(_of_case(case), request.project),
        "text": text,
        "is_marked": any(part.pieces for parts in text.get("sides", ()) for part in parts),
        "sides": _sides(request.project, ctx["names"], row, text.get("sides")),
        "opinions": _opinions(row, ctx["judges"]),
        "may_keep": ctx["can_run"],
        "grade_url": grade_url(slug, output, row.partner.pk) if request.role >= Role.EDITOR else "",
        "text_urls": [
            (name, word, urlencode(request.GET.dict() | {"text": name, "peek": output}))
            for name, word in WORDS_OF_TEXTS.items()
        ],
    }


def _sides(project: Project, names: tuple[str, str], row: Row, parts: Any) -> list[dict[str, Any]]:
    """Both answers, the baseline's first."""
    roles = (("baseline", names[1], row.partner), ("compared", names[0], row.output))
    return [
        side_of(project, role, name, output, parts[at] if parts else [])
        for at, (role, name, output) in enumerate(roles)
    ]


def side_of(project: Project, role: str, name: str, output: Output, parts: Any) -> dict[str, Any]:
    body = output.body
    return {
        "role": role,
        "name": name,
        "output": output,
        "parts": parts,
        "calls": reading.tool_calls(body.outputs),
        "steps": reading.steps(body.steps),
        "pictures": pictures_in(body.outputs, project.slug),
        "attachments": attachments_in({"outputs": body.outputs, "steps": body.steps}, project),
    }


def _of_case(case: Case) -> dict[str, Any]:
    """All of a case that may name a file, by the names that paths begin with."""
    return {"inputs": case.inputs, "metadata": case.metadata, "expectedOutputs": case.expected_outputs}


def _opinions(row: Row, judges: Judges) -> list[dict[str, Any]]:
    """What every evaluator says of the pair: the score of either side with its words, or the verdict on both."""
    runs = [run for subject in judges.subjects for run in subject.runs]
    said = {verdict.run.pk: verdict for verdict in verdicts([row.output, row.partner], runs)}
    return [
        {
            "told": told,
            "compared": said.get(told.subject.run.pk),
            "baseline": said.get(told.subject.baseline_run.pk) if told.subject.baseline_run else None,
        }
        for told in row.told
    ]


def next_error(found: Comparison, after: int | None = None) -> int | None:
    """The next pair that something could not be told of, as they came; from the last one on to the first."""
    outputs = found.array(OUTPUTS)[found.array(FLAGS) & HAS_ERROR > 0]
    if after is not None:
        outputs = outputs[outputs != after]
    if not len(outputs):
        return None
    beyond = outputs[outputs > after] if after is not None else outputs
    return int((beyond if len(beyond) else outputs).min())
