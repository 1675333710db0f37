"""Prompts: Jinja's sandboxed language over the parts of a sample, with every inserted value marked as data.

`compile(source)` reads a prompt once and for all; `Prompt.render(sample)` gives the message in parts.
"""

from evaluators.prompts.checking import RESERVED
from evaluators.prompts.reading import MOST_CHARACTERS, Prompt, PromptError, compile
from evaluators.prompts.rendering import OUTPUT_ROOTS, Part, Rendered, RenderError

__all__ = [
    "MOST_CHARACTERS",
    "OUTPUT_ROOTS",
    "RESERVED",
    "Part",
    "Prompt",
    "PromptError",
    "RenderError",
    "Rendered",
    "compile",
]
