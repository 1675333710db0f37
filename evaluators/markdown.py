"""Markdown of people as HTML that a page may show: no HTML of theirs, no scripts, nothing from other hosts.

Two fences stand one behind the other: the parser takes no raw HTML, and what it makes is sanitised again.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from evalstudio.files import addresses

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

TAGS = frozenset(
    (
        *("a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre"),
        *("s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
    )
)
ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}}
SCHEMES = frozenset({"http", "https", "mailto", "data"})  # data: for pictures; the parser takes no such link
REL = "noopener noreferrer nofollow"


@lru_cache(maxsize=256)
def rendered(text: str) -> SafeString:
    """The text as HTML. Headings begin one level down; of a picture from elsewhere only the words are shown."""
    import nh3

    html = _parser().render(text)
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes=ATTRIBUTES,
        url_schemes=set(SCHEMES),
        link_rel=REL,
        attribute_filter=_filtered,
    )
    return SafeString(clean)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.push("headings", _one_level_down)
    parser.core.ruler.push("pictures", _own_pictures)
    return parser


def _one_level_down(state: StateCore) -> None:
    """The page's own heading stands above."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"


def _own_pictures(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "image":
                _shown_or_words(child)


def _shown_or_words(image: Token) -> None:
    """Point a picture of a project, or one that is written out, to itself alone; make any other a text."""
    src = _shown(str(image.attrs.get("src", "")))
    if src is None:
        image.type, image.tag, image.children = "text", "", None
        image.content = image.content or "(picture)"
    else:
        image.attrs["src"] = src


def _shown(src: str) -> str | None:
    """The address under which a page of ours may show a picture."""
    match addresses.read(src):
        case addresses.Own(slug, digest):
            return f"/p/{slug}/files/{digest}/"
        case addresses.WrittenOut(url):
            return url
    return None


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    """The second fence asks again what the first one asked."""
    if attribute == "src":
        return _shown(value)
    if attribute == "href" and value.strip().lower().startswith("data:"):
        return None
    return value
