"""The icons of the pages: one stroke drawing each, on a grid of 16 by 16."""

from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

ICONS = {
    "archive": "M2.5 3.5h11v3h-11zM3.5 6.5v6h9v-6M6.5 9h3",
    "bookmark": "M4 2.5h8v11l-4-3-4 3z",
    "box": "M2.5 5 8 2.3 13.5 5v6L8 13.7 2.5 11zM2.5 5 8 7.7 13.5 5M8 7.7v6",
    "caret": "m4 6.2 4 4 4-4",
    "caret-up": "m4 9.8 4-4 4 4",
    "check": "m3.2 8.6 3.1 3.1 6.5-7.2",
    "checks": "m2.5 4.5 1.3 1.3 2.4-2.8M2.5 11l1.3 1.3 2.4-2.8M9 4.5h4.5M9 11h4.5",
    "classes": "M2.5 2.5h4.5v4.5h-4.5zM9 9h4.5v4.5H9zM10 4.8h2.5M3.5 11.2h2.5",
    "clock": "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3.2l2.2 1.3",
    "code": "m5.5 4.5-3.5 3.5 3.5 3.5m5-7 3.5 3.5-3.5 3.5",
    "compare": "M3 5.5h10l-2.5-2.5M13 10.5H3L5.5 13",
    "copy": "M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2",
    "cross": "m4 4 8 8m0-8-8 8",
    "dash": "M4 8h8",
    "diamond": "M8 3.5 12.5 8 8 12.5 3.5 8Z",
    "edit": "m3 13 .6-2.8 7-7 2.2 2.2-7 7zM9.4 4.4l2.2 2.2",
    "export": "M8 9.5v-7m-3 3 3-3 3 3M3 13h10",
    "file": "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
    "folder": "M2 4.5h4l1.5 1.5H14v6.5H2z",
    "grid": "M2.5 2.5h4.5v4.5h-4.5zM9 9h4.5v4.5H9zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5z",
    "image": "M2.5 3.5h11v9h-11zM2.5 10.5l3-3 2.5 2.5 2-2 3.5 3.5M10.5 6h.01",
    "import": "M8 2.5v7m-3-3 3 3 3-3M3 13h10",
    "info": "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 7.5v3.3M8 5.2h.01",
    "judge": "M8 2.5v11M4.5 13.5h7M3 5l5-1.5L13 5M3 5 1.5 9h3zM13 5l-1.5 4h3z",
    "key": "M10.5 2.5a3 3 0 1 1-2.6 4.5L3 12v1.5h2v-1.4h1.5v-1.5H8L9 9.2M10.9 5.2h.01",
    "keyboard": "M1.5 4h13v8h-13zM4 6.8h.01M6.7 6.8h.01M9.3 6.8h.01M12 6.8h.01M5 9.5h6",
    "left": "m9.8 4-4 4 4 4",
    "link": "M6.5 9.5l3-3M7 4.5l1-1a3.2 3.2 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3.2 3.2 0 0 1 3.5 8l1-1",
    "list": "M2.5 4h11M2.5 8h11M2.5 12h7",
    "more": "M3.5 8h.01M8 8h.01M12.5 8h.01",
    "out": "M9.5 2.5h-6v11h6M6.5 8h7m-2.5-2.5L13.5 8 11 10.5",
    "people": "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM2 13c0-2.4 1.7-3.8 4-3.8s4 1.4 4 3.8"
    "M10.6 3.4a2 2 0 0 1 0 3.9M11.6 9.5c1.5.5 2.4 1.7 2.4 3.5",
    "plug": "M5.5 2.5v3m5-3v3M4 5.5h8v2a4 4 0 0 1-8 0zM8 11.5v2.5",
    "plus": "M8 3v10M3 8h10",
    "right": "m6.2 4 4 4-4 4",
    "ring": "M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z",
    "run": "M5 3.2v9.6L12.5 8z",
    "search": "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.3 7.8 3.2 3.2",
    "stop": "M4.5 4.5h7v7h-7z",
    "theme": "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
    "undo": "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M5.5 3.5l-3 3 3 3",
    "warning": "M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01",
}


@cache
def svg(name: str, size: int = 16) -> SafeString:
    """The drawing of an icon, hidden from screen readers: the word beside it, or the control's label, says it.

    Raises KeyError for a name that is not in ICONS, so that a typing error fails the first test of its page.
    """
    return format_html(
        '<svg class="icon" width="{0}" height="{0}" viewBox="0 0 16 16" fill="none" stroke="currentColor"'
        ' stroke-width="{1}" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="{2}"/></svg>',
        size,
        "2.2" if name == "more" else "1.5",
        ICONS[name],
    )
