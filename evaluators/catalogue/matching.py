"""Whether the condition of a case holds of an answer."""

from __future__ import annotations

from evaluators.catalogue.conditions import Condition
from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import Found, retrieval_measures, with_retrieval
from evaluators.catalogue.registry import entry


@entry(
    "Text matching",
    family=RULES,
    measures=retrieval_measures(
        "Model passes", "Model failures", "Retrieval failures", "Generation failures", "Parse failures"
    ),
    tags="VR OA",
)
def text_matching(output: str, condition: Condition, contexts: tuple[str, ...] | None = None) -> Found:
    """Passes when the condition of the case holds of the answer: texts and patterns with AND, OR and NOT."""
    ok = condition.holds(output)
    retrieval_ok = condition.holds("\n".join(contexts)) if contexts else None
    return with_retrieval(ok, retrieval_ok, "" if ok else condition.explained(output))
