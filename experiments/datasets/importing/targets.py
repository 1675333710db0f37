"""What a column can become."""

from __future__ import annotations

import re
from typing import NamedTuple

ROOTS = ("inputs", "expectedOutputs", "outputs", "metadata")  # these take a name of the person's choice
FIELDS = ("key", "split", "steps", "latency_ms", "cost_usd", "tokens_in", "tokens_out", "error")
CONTENT = ("inputs", "expectedOutputs", "metadata", "split")  # these say something about a case
OUTPUT_FIELDS = ("steps", "latency_ms", "cost_usd", "tokens_in", "tokens_out", "error")
NAME = re.compile(r"\w[\w-]{0,99}")


class Target(NamedTuple):
    """`inputs.question` is a name in a root, `inputs` alone the whole root, `key` a field; `ignore` leaves it out."""

    root: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.root}.{self.name}" if self.name else self.root

    @property
    def is_output(self) -> bool:
        return self.root == "outputs" or self.root in OUTPUT_FIELDS

    @classmethod
    def parse(cls, text: str) -> Target:
        """Raises ValueError with a sentence where there is no such target."""
        root, dot, name = text.strip().partition(".")
        if root == IGNORE.root or root in FIELDS:
            if dot:
                raise ValueError(f"{root} takes no name.")
            return cls(root)
        if root not in ROOTS:
            raise ValueError(f"There is no target “{root}”. There are {', '.join((*ROOTS, *FIELDS))} and ignore.")
        if dot and not NAME.fullmatch(name):
            raise ValueError(f"“{name}” is no name. Use letters, digits, _ and -.")
        return cls(root, name)


IGNORE = Target("ignore")
