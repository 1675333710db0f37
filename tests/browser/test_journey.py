"""From a file to a verdict: what a newcomer does on the first day, with a ceiling on clicks and page loads.

File in → evaluator written → tried on a case → two systems judged in the background → the home page says who is ahead.
"""

import json
import threading

import pytest
from django.db import connections
from django.urls import reverse

from experiments.datasets.importing.tasks import run_import
from experiments.ledger.turn import work
from experiments.models import Import, Run
from tests.browser_fixtures import sign_in
from tests.evaluators.editor_forms import rehearsal

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CLICKS, PAGES = 15, 17
SLOW_MS = 30_000

CAPITALS = """Norway Oslo, Kenya Nairobi, Peru Lima, Japan Tokyo, Chad N'Djamena, Cuba Havana, Nepal Kathmandu,
Greece Athens, Egypt Cairo, Chile Santiago, Fiji Suva, Iraq Baghdad"""
FACTS = [
    (f"capital-{land.lower()}", f"What is the capital of {land}?", f"The capital of {land} is {town}.")
    for land, town in (pair.split() for pair in CAPITALS.split(","))
]


class Person:
    """Somebody at the keyboard, whose clicks and page loads are counted."""

    def __init__(self, page):
        self.page, self.clicks, self.pages = page, 0, 0
        page.on("load", self._loaded)

    def _loaded(self, _):
        self.pages += 1

    def click(self, role, name, **more):
        self.clicks += 1
        self.page.get_by_role(role, name=name, **more).first.click()

    def sees(self, text):
        self.page.get_by_text(text).first.wait_for(timeout=SLOW_MS)


def in_background(work_to_do, *arguments):
    """What the worker does, beside the browser: in a thread with database connections of its own."""

    def run():
        try:
            work_to_do(*arguments)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bring(person, file, system):
    person.page.set_input_files("input[type=file]", file)
    if not person.page.input_value("#id_dataset"):
        person.page.fill("#id_dataset", "capitals")
    person.click("button", "Look at the file")
    person.page.fill("#id_system", system)
    person.click("button", "Import", exact=True)
    person.page.wait_for_url("**/imports/*/")
    in_background(run_import, Import.objects.latest("pk").pk).join()
    person.sees("Open the experiment")


def judge(person, evaluator):
    person.page.locator("#add-evaluator > summary").click()
    person.clicks += 1
    person.click("button", "Run", exact=True)
    person.sees(f"{evaluator} v1 is running.")


def test_from_a_file_to_a_verdict(page, live_server, alice, project, tmp_path):
    rehearsal(project)
    good = [{"key": k, "question": q, "expected": a, "output": a} for k, q, a in FACTS]
    poor = [{"key": k, "output": "I am sorry, I cannot help with that."} for k, _, _ in FACTS]
    sign_in(page, live_server, alice)
    person = Person(page)

    page.goto(live_server.url + reverse("project-home", args=[project.slug]))
    person.click("link", "Import cases")
    bring(person, write_lines(tmp_path / "good.jsonl", good), "careful")
    person.click("link", "Import another file")
    bring(person, write_lines(tmp_path / "poor.jsonl", poor), "careless")

    page.goto(live_server.url + reverse("evaluator-new", args=[project.slug]))
    person.click("link", "Factual consistency")
    person.click("button", "Run test")
    person.sees("scored")
    person.click("button", "Save as v1")
    page.wait_for_url("**/evaluators/*/")

    experiments = reverse("experiment-list", args=[project.slug])
    for system in ("careful", "careless"):
        page.goto(live_server.url + experiments)
        person.click("link", system, exact=True)
        judge(person, "Factual consistency")
    in_background(work, "net").join()
    assert list(Run.objects.values_list("state", flat=True)) == ["finished", "finished"]

    page.goto(live_server.url + reverse("project-home", args=[project.slug]))
    person.sees("careful is ahead of careless on Factual consistency")
    assert person.clicks <= CLICKS, f"{person.clicks} clicks"
    assert person.pages <= PAGES, f"{person.pages} pages"
