"""Tasks of Label Studio as plain rows: one for every evaluator in every annotation.

Of a pair the baseline stands left, unless its region names `outputs` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flat(row: Any) -> Iterator[Any]:
    """The rows of a task; anything that is no task as it is."""
    if not isinstance(row, Mapping) or "annotations" not in row or not isinstance(row.get("data"), Mapping):
        yield row
        return
    annotations = row["annotations"]
    for annotation in annotations if isinstance(annotations, list) else ():
        if isinstance(annotation, Mapping):
            yield from _of_annotation(row["data"], annotation)


def _of_annotation(data: Mapping[str, Any], annotation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    regions = annotation.get("result")
    regions = [each for each in regions if isinstance(each, Mapping)] if isinstance(regions, list) else []
    about = {name: data[name] for name in ("case", "key", "attempt", "experiment", "baseline") if name in data}
    about |= {"person": _person(annotation.get("completed_by")), "seconds": annotation.get("lead_time")}
    about["created_at"] = annotation.get("created_at")
    about["comment"] = "\n".join(text for region in regions for text in _texts(region))
    if annotation.get("was_cancelled"):
        yield about | {"said": "cannot judge"}
        return
    for region in regions:
        value = region.get("value")
        if not isinstance(value, Mapping):
            continue
        named = about | {"evaluator": region.get("from_name")}
        match region.get("type"), value:
            case "choices", {"choices": [label, *_]}:
                yield named | {"label": label}
            case "number", {"number": number}:
                yield named | {"number": number}
            case "rating", {"rating": number}:
                yield named | {"number": number}
            case "pairwise", {"selected": "left" | "right" as side}:
                first = str(region.get("to_name")).partition(",")[0].strip()
                yield named | {"score": float((side == "right") != (first == "outputs"))}


def _person(said: Any) -> Any:
    """A name, where there is one: exports of Label Studio itself may hold no more than its own id of a person."""
    if isinstance(said, Mapping):
        return said.get("username") or said.get("email") or _person(said.get("id"))
    return f"Label Studio {said}" if type(said) is int else said


def _texts(region: Mapping[str, Any]) -> list[str]:
    value = region.get("value")
    if region.get("type") != "textarea" or not isinstance(value, Mapping):
        return []
    text = value.get("text")
    return [str(each) for each in text] if isinstance(text, list) else [str(text)]
