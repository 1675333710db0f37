"""First drawing of charts of 10,000 points in Chromium, beside plotly told to draw the same on a bare page.

    python -m benchmarks.charts [--points 10000] [--rounds 5]

What pages draw of so many points is a curve or a map of systems by cases; everything else is summed up before.
Each page is opened in a browser context that has nothing cached. The time runs from the navigation until the frame
after the drawing, so it holds the page, its fonts and styles, plotly itself and the drawing; told apart is what plotly
alone takes on a page without anything else. Medians of the rounds. The exit status is 1 where a page of ours takes
longer than a second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

BUDGET_MS = 1000
DRAWN = """
new Promise((resolve) => {
  const look = () => document.querySelector("[data-drawn]")
    ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
    : requestAnimationFrame(look);
  look();
})"""
POINTS = 10_000


# --- The pages --------------------------------------------------------------------------------------------------------
def figures(points: int) -> dict[str, dict[str, Any]]:
    """One figure of each kind that pages draw of many points, with so many."""
    import numpy as np

    from evalstudio.web.charts import ACCENT

    draw = np.random.default_rng(11)
    side = int(points**0.5)
    sweep = np.linspace(0, 1, points)
    return {
        "curve": {"type": "scatter", "mode": "lines", "x": sweep, "y": np.sqrt(sweep), "line": {"color": ACCENT}},
        "map of cases": {"type": "heatmap", "z": draw.random((side, side)), "xgap": 1, "ygap": 1},
    }


def page(request: Any, name: str) -> Any:
    from django.http import HttpResponse
    from django.template import engines

    from evalstudio.web.charts import Chart, ChartTable

    figure = {"data": [figures(POINTS)[name]], "layout": {}}
    source = '{% extends "base.html" %}{% block content %}{% chart chart %}{% endblock %}'
    chart = Chart(name, figure, ChartTable(["point", "value"], [(str(n), "0") for n in range(POINTS)]))
    return HttpResponse(engines["django"].from_string(source).render({"chart": chart}, request))


def bare(request: Any, name: str) -> Any:
    """The same figure on a page that has nothing but plotly."""
    import orjson
    from django.http import HttpResponse
    from django.templatetags.static import static

    from evalstudio.web.charts import ACCENT

    figure = orjson.dumps([figures(POINTS)[name]], option=orjson.OPT_SERIALIZE_NUMPY).decode()
    figure = figure.replace(ACCENT, "#2457c5")
    source = static(next(Path("static").glob("vendor/plotly-*/*.js")).relative_to("static").as_posix())
    return HttpResponse(
        f'<!doctype html><title>bare</title><link rel="icon" href="data:,"><div id="plot"></div>'
        f'<script src="{source}"></script>'
        f"<script>Plotly.newPlot(plot, {figure}, {{height: 320}}).then(() => plot.dataset.drawn = '')</script>"
    )


def addresses() -> list[Any]:
    from django.urls import include, path

    ours, plain = path("drawn/<name>/", page), path("bare/<name>/", bare)
    return [ours, plain, path("", include("evalstudio.urls"))]


# --- The measurements -------------------------------------------------------------------------------------------------
class Quiet(WSGIRequestHandler):
    def log_message(self, *said: Any) -> None:
        """Nothing is logged, since the terminal is for the figures."""


def served() -> str:
    """Starts a server of this process on a free port and gives its address."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.wsgi import get_wsgi_application

    server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def drawn_ms(browser: Any, address: str, *, has_policy: bool) -> float:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=not has_policy)
    tab = context.new_page()
    tab.goto(address, wait_until="commit")
    took = float(tab.evaluate(DRAWN))
    context.close()
    return took


def main() -> int:
    global POINTS
    said = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    said.add_argument("--points", type=int, default=POINTS)
    said.add_argument("--rounds", type=int, default=5)
    asked = said.parse_args()
    POINTS = asked.points
    from playwright.sync_api import sync_playwright

    from tests.browser_fixtures import FLAGS, chromium

    held = True
    with tempfile.TemporaryDirectory(prefix="evalstudio-charts-") as folder, sync_playwright() as playwright:
        os.environ |= {"EVALSTUDIO_DATA": folder, "DJANGO_SETTINGS_MODULE": "benchmarks.pages_settings"}
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's loop runs in this thread
        import django
        from django.conf import settings
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        settings.ROOT_URLCONF, settings.ALLOWED_HOSTS = tuple(addresses()), ["127.0.0.1"]
        home = served()
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        print(f"{asked.points:,} points, milliseconds; load {os.getloadavg()[0]:.1f}")
        print(f"{'':<16}{'our page':>10}{'bare':>10}{'ratio':>8}")
        for name in figures(1):
            for kind in ("drawn", "bare"):  # once for the server, which has to load templates
                drawn_ms(browser, f"{home}/{kind}/{name}/", has_policy=kind == "drawn")
            ours, plain = (
                statistics.median(
                    drawn_ms(browser, f"{home}/{kind}/{name}/", has_policy=kind == "drawn") for _ in range(asked.rounds)
                )
                for kind in ("drawn", "bare")
            )
            held &= ours <= BUDGET_MS
            print(f"{name:<16}{ours:>10.0f}{plain:>10.0f}{ours / plain:>8.2f}  {'ok' if ours <= BUDGET_MS else 'OVER'}")
        browser.close()
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
