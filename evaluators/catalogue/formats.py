"""Rules about the form of a text: an e-mail address, JSON, JSON of a schema."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from evaluators.catalogue import schemas
from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import FAIL, PASS, PASS_FAIL, Found, passes, retrieval_measures
from evaluators.catalogue.registry import entry
from evaluators.catalogue.schemas import NotJson, Schema, schema_of_case

MOST_VIOLATIONS: Final = 20
MOST_ADDRESS: Final = 1_000  # characters of a text that is looked at as an address at all
_COUNTED: Final = {
    "type_check": {"type"},
    "required_fields": {"required"},
    "enum": {"enum", "const"},
    "format": {"format"},
    "range": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "length": {"minLength", "maxLength", "minItems", "maxItems"},
    "additional_properties": {"additionalProperties"},
}
Validation = Literal[
    "type_check", "required_fields", "enum", "format", "range", "length", "additional_properties"
]  # fmt: skip


@entry("Is an e-mail address", family=RULES, measures=PASS_FAIL, tags="VR OA")
def is_email(text: str) -> Found:
    """Passes when the whole text is one e-mail address. Nobody is asked whether it exists."""
    from email_validator import EmailNotValidError, validate_email

    if len(text) > MOST_ADDRESS:
        return passes(False, "It is too long for an address.")
    try:
        validate_email(text, check_deliverability=False)
    except EmailNotValidError as error:
        return passes(False, str(error))
    return passes(True, "")


@entry("Is JSON", family=RULES, measures=PASS_FAIL, tags="VR OA")
def is_json(text: str) -> Found:
    """Passes when the whole text is strict JSON of any kind; a code fence around it is none."""
    try:
        schemas.parse(text)
    except NotJson as error:
        return passes(False, str(error))
    return passes(True, "")


@entry(
    "JSON Schema",
    family=RULES,
    measures=retrieval_measures("Valid JSON", "Invalid JSON", "Invalid retrieved JSON", "Invalid generated JSON"),
    tags="VR OA",
)
def json_schema(
    text: str,
    expected_json: Any = None,
    *,
    json_schema: Annotated[Schema, "Empty: the schema of the case if it has one, otherwise any JSON passes"] = {},  # type: ignore[assignment]  # noqa: B006
    validations: Annotated[tuple[Validation, ...], "The errors that count; none chosen: all"] = (),
) -> Found:
    """Passes when a text is JSON that a JSON Schema accepts."""
    try:
        value = schemas.parse(text)
    except NotJson as error:
        return _validated([str(error)])
    schema = json_schema
    if schema.is_empty and expected_json is not None:
        schema = schema_of_case(expected_json)
    counted = frozenset().union(*(_COUNTED[name] for name in validations))
    return _validated([str(one) for one in schema.violations(value, MOST_VIOLATIONS, counted)])


def _validated(errors: list[str]) -> Found:
    fails = 1.0 if errors else 0.0
    measures = {PASS.name: 1 - fails, FAIL.name: fails, "retrieval_failure_rate": 0.0, "generation_failure_rate": fails}
    return Found(measures, "\n".join(errors))
