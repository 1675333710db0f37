"""Regular expressions of users over texts of anybody: in an engine that gives up in time."""

from __future__ import annotations

import re
import warnings
from typing import ClassVar, Final

from evaluators.catalogue.parameters import TEXT, BadSetting

LIMIT_S: Final = 1.0  # for one search
MOST_CHARACTERS: Final = 2_000


class Pattern:
    """A regular expression in Python's syntax, compiled. Raises BadSetting for any other text."""

    shape: ClassVar = TEXT

    def __init__(self, text: str) -> None:
        import regex

        if len(text) > MOST_CHARACTERS:
            raise BadSetting(f"A regular expression has at most {MOST_CHARACTERS:,} characters.")
        try:
            with warnings.catch_warnings(action="ignore"):
                re.compile(text)
                self._compiled = regex.compile(text, regex.VERSION0)
        except (re.error, regex.error) as error:
            place = "" if error.pos is None else f" at character {error.pos + 1}"
            raise BadSetting(f"This is no regular expression: {error.msg}{place}.") from None
        except (RecursionError, OverflowError, MemoryError):
            raise BadSetting("This regular expression is too large.") from None

    def is_in(self, text: str) -> bool:
        """Whether it matches somewhere in the text. Raises TimeoutError."""
        return self._compiled.search(text, timeout=LIMIT_S) is not None

    def is_all_of(self, text: str) -> bool:
        """Whether it matches the whole text. Raises TimeoutError."""
        return self._compiled.fullmatch(text, timeout=LIMIT_S) is not None
