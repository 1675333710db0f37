"""What the Content-Security-Policy would refuse, and what would print data as markup, never gets into a template."""

import gzip
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FORBIDDEN = {
    "an inline style": r"\sstyle=",
    "a style element": r"<style",
    "an inline script": r"<script(?![^>]*(\bsrc=|type=.application/json))",
    "an event handler": r"\son[a-z]+=",
    "htmx code": r"\shx-on\b|\bjs:|hx-vals='js|\[[^\]]*\(\)[^\]]*\]\"\s*hx",
    "data as markup": r"\|\s*safe\b|autoescape off|mark_safe",
    "a file from elsewhere": r"(src|href)=\"(https?:)?//",
    "headers that htmx 4 does not inherit": r"<body[^>]*\shx-headers=",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(what):
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in TEMPLATES
        for match in re.finditer(FORBIDDEN[what], path.read_text())
    ]
    assert found == []


def test_scripts_and_styles_of_a_page_stay_small():
    files = [*ROOT.glob("static/css/*.css"), *ROOT.glob("static/js/*.js"), *ROOT.glob("static/vendor/*/*.js")]
    always = [path for path in files if not path.parent.name.startswith("plotly-")]  # which only pages with charts load
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in always}
    assert sum(sizes.values()) < 300_000, sizes
