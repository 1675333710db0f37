"""How the API reads JSON."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from evalstudio.web.foreign import MOST_DEPTH, is_too_deep


class SoundJSON(JSONParser):
    """JSON of the API, refused where it is nested without end."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            data = super().parse(*args, **kwargs)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        if is_too_deep(data):
            raise ParseError(f"The JSON is nested more than {MOST_DEPTH} levels deep.")
        return data
