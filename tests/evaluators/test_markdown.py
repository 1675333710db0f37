"""Markdown of people as HTML: what it may say, and everything that it may not do."""

import base64
import re
from html.parser import HTMLParser

import pytest

from evaluators.markdown import rendered

DIGEST = "a" * 64


class Elements(HTMLParser):
    """The start tags of some HTML, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list]] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, attrs))


DOT = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()


def test_the_usual_marks_are_drawn():
    html = rendered(
        "# Is it solved?\n\nRead as the **customer**.\n\n1. Check money\n2. Check _dates_\n\n> Quote\n\n---"
    )
    for part in (
        "<h2>Is it solved?</h2>",
        "<strong>customer</strong>",
        "<ol>",
        "<em>dates</em>",
        "<blockquote>",
        "<hr",
    ):
        assert part in html


def test_tables_code_and_struck_out_words_are_drawn():
    html = rendered("| a | b |\n|---|---|\n| 1 | `<i>` |\n\n~~no~~\n\n```\n<b>\n```")
    for part in ("<td>1</td>", "<code>&lt;i&gt;</code>", "<s>no</s>", "<pre><code>&lt;b&gt;"):
        assert part in html


def test_headings_begin_below_that_of_the_page():
    assert re.findall(r"<h(\d)", rendered("# a\n## b\n###### f")) == ["2", "3", "6"]


def test_links_lead_out_without_a_way_back():
    html = rendered("[help](https://example.org/a?b=1&c=2 'Read') <mailto:a@b.c>")
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html
    assert html.count('rel="noopener noreferrer nofollow"') == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](javascript&colon;alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](\tjavascript:alert(1))",
        "[x](vbscript:msgbox)",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x]: javascript:alert(1)\n\n[x]",
        "<javascript:alert(1)>",
        "![x](javascript:alert(1))",
        '[x](https://a.b "\\" onmouseover=\\"alert(1)")',
        "`</code><script>alert(1)</script>`",
        "```html\n</code></pre><script>alert(1)</script>\n```",
        "<svg><style><img src=x onerror=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<!-- --><script>alert(1)//",
        "<div style='position:fixed;inset:0'>",
        "<form action=//evil><input name=password>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "\x00<script>alert(1)</script>",
        "[<b onclick=alert(1)>x</b>](https://a.b)",
    ],
)
def test_nothing_of_it_becomes_code_or_another_element(hostile):
    found = Elements()
    found.feed(rendered(hostile))
    assert {name for name, _ in found.seen} <= {"p", "a", "code", "pre", "img", "em", "strong"}
    attributes = [pair for _, pairs in found.seen for pair in pairs]
    assert {name for name, _ in attributes} <= {"href", "title", "rel", "src", "alt"}
    for name, value in attributes:
        if name in ("href", "src"):
            assert value.startswith(("https://", "http://", "mailto:", "/", "data:image/")), value


@pytest.mark.parametrize(
    ("src", "shown"),
    [
        (f"/p/support/files/{DIGEST}/plan.png", f"/p/support/files/{DIGEST}/"),
        (f"https://studio.example/p/support/files/{DIGEST}/", f"/p/support/files/{DIGEST}/"),
        (f"data:image/png;base64,{DOT}", f"data:image/png;base64,{DOT}"),
    ],
)
def test_pictures_of_a_project_and_written_out_ones_are_shown(src, shown):
    assert f'<img src="{shown}" alt="Plan">' in rendered(f"![Plan]({src})")


@pytest.mark.parametrize(
    "src",
    [
        "https://example.org/pixel.png",
        "//example.org/pixel.png",
        "/p/support/settings/",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:text/html;base64,PHN2Zy8+",
        "pixel.png",
        "",
    ],
)
def test_of_a_picture_from_elsewhere_only_the_words_are_shown(src):
    html = rendered(f"![a _plan_]({src})")
    assert "<img" not in html
    assert "plan" in html


def test_a_picture_without_words_from_elsewhere_is_named():
    assert "(picture)" in rendered("![](https://example.org/pixel.png)")


def test_text_that_nests_without_end_is_rendered():
    for mark in (">", "- ", "[", "*", "`", "![", "<", "|"):
        assert rendered(mark * (20_000 // len(mark))) is not None


def test_it_is_marked_as_safe_and_kept():
    assert rendered("**a**") is rendered("**a**")
    assert hasattr(rendered("a"), "__html__")
