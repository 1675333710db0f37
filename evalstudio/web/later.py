"""Routes that are imported when one of them is first asked for.

The REST API needs as much to be imported as all pages together; a start that only has to show a page does without it.
"""

from django.urls import URLResolver
from django.urls.resolvers import RoutePattern
from django.utils.datastructures import MultiValueDict
from django.utils.translation import get_language


class Later(URLResolver):
    """Like `path(route, include(urlconf))`, but the urlconf is a dotted name whose addresses nothing reverses."""

    def __init__(self, route: str, urlconf: str) -> None:
        super().__init__(RoutePattern(route), urlconf)

    def _populate(self) -> None:
        """Tells the reverse lookup that there are no names here; asking for them would import everything."""
        language = get_language()
        self._reverse_dict[language] = MultiValueDict()
        self._namespace_dict[language] = {}  # type: ignore[attr-defined]  # the stubs leave these two out
        self._app_dict[language] = {}  # type: ignore[attr-defined]
        self._populated = True
