"""What is wrong with a judge's settings, field by field, before it asks anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evaluators import prompts, scoring
from evaluators.core import COMPARISON, ROOTS, FieldError
from evaluators.framing import LettersDiffer
from evaluators.kinds.scored import check_scale
from evaluators.paths import SPAN, BadPath, parse
from evaluators.prompts import OUTPUT_ROOTS, RESERVED, PromptError

if TYPE_CHECKING:
    from evaluators.kinds.judge import JudgeConfig

MOST_GUIDE = 20_000
MOST_ROWS = 50  # variables, and paths to images
NAMES = (*ROOTS, SPAN)


def check(config: JudgeConfig) -> list[FieldError]:
    """Everything that is wrong with the configuration; empty when it may be saved."""
    rows = [*_check_variables(config), *_check_images(config)]
    errors = [*_check_prompt(config, bool(rows)), *rows, *check_scale(config)]
    if config.connection_id is None or not config.model.strip():
        errors.append(FieldError("model", "Choose a model."))
    if len(config.guide) > MOST_GUIDE:
        errors.append(FieldError("guide", f"A guide has at most {MOST_GUIDE:,} characters."))
    return errors


def _check_prompt(config: JudgeConfig, rows_are_wrong: bool) -> list[FieldError]:
    """What is wrong with the prompt; a variable whose path is wrong counts as one that can be read."""
    variables = tuple((name, _path_or("inputs", path)) for name, path in dict(config.variables).items())
    try:
        prompt = prompts.compile(config.prompt, config.compares, variables)
        if not scoring.check(config.scoring):
            config.manner(prompt.literal)
    except PromptError as error:
        return list(error.errors)
    except LettersDiffer as error:
        return [FieldError("prompt", str(error))]
    return _check_both_are_shown(config, prompt.roots) if config.compares and not rows_are_wrong else []


def _path_or(other: str, path: str) -> str:
    try:
        return parse(path).text
    except BadPath:
        return other


def _check_both_are_shown(config: JudgeConfig, roots: frozenset[str]) -> list[FieldError]:
    """A comparison that shows the model one output would judge that one alone."""
    shown = roots | {parse(path).root for path in config.images}
    if COMPARISON not in shown:
        message = (
            "The prompt never shows the compared output. Add {{ comparison.outputs.value }}, or the path of yours."
        )
        return [FieldError("prompt", message)]
    if not shown & set(OUTPUT_ROOTS):
        message = "The prompt never shows the baseline's output. Add {{ outputs.value }} or another path of it."
        return [FieldError("prompt", message)]
    return []


def _check_variables(config: JudgeConfig) -> Iterator[FieldError]:
    if len(config.variables) > MOST_ROWS:
        yield FieldError(f"variable_name.{MOST_ROWS}", f"A judge has at most {MOST_ROWS} variables.")
        return
    times = Counter(name for name, _ in config.variables)
    for row, (name, path) in enumerate(config.variables):
        if wrong := _wrong_name(name, times):
            yield FieldError(f"variable_name.{row}", wrong)
        yield from _check_path(path, f"variable_path.{row}", config.compares)


def _wrong_name(name: str, times: Counter[str]) -> str:
    if not name:
        return "Give this variable a name, such as Ground_Truth."
    if not (name.isidentifier() and name.isascii()) or len(name) > 80:
        return "A name has letters, digits and underscores, no other characters, and starts with a letter."
    if name in NAMES:
        return f"“{name}” is a part of every case. Choose another name."
    if name in RESERVED:
        return f"“{name}” is a word of the prompt language. Choose another name."
    return f"There is another variable “{name}”." if times[name] > 1 else ""


def _check_images(config: JudgeConfig) -> Iterator[FieldError]:
    if len(config.images) > MOST_ROWS:
        yield FieldError(f"image_path.{MOST_ROWS}", f"A judge has at most {MOST_ROWS} paths to images.")
        return
    for row, path in enumerate(config.images):
        yield from _check_path(path, f"image_path.{row}", config.compares)


def _check_path(text: str, field: str, compares: bool) -> Iterator[FieldError]:
    if not text:
        yield FieldError(field, "Give the path of its value, such as expectedOutputs.value.")
        return
    try:
        path = parse(text)
    except BadPath as error:
        yield FieldError(field, str(error), None, error.suggestion, _root_of(text) if error.suggestion else None)
        return
    if path.root == COMPARISON and not compares:
        yield FieldError(field, "“comparison” is there only where two results are compared.", found=COMPARISON)


def _root_of(path: str) -> str:
    """The root of a path as typed, which the suggestion takes the place of."""
    return path.split(".", 1)[0].split("[", 1)[0].strip()
