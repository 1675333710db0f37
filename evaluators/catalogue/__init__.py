"""Built-in evaluators by family. Every family is imported here, in the order in which entries are shown."""

from evaluators.catalogue import (  # noqa: I001 - in the order of the catalogue
    keywords,
    lengths,
    links,
    formats,
    matching,
    leaks,
    looping,
    tool_calls,
)
from evaluators.catalogue.registry import TAGS, Entry, entries, families, get

FAMILIES = (keywords, lengths, links, formats, matching, leaks, looping, tool_calls)

__all__ = ["FAMILIES", "TAGS", "Entry", "entries", "families", "get"]
