"""Files that systems leave with their outputs: listed in the panel of a case and of a pair, and downloaded."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from playwright.sync_api import expect

from evalstudio.files.keeping import keep
from experiments.models import OutputBody
from tests.browser.test_trials import looked_at
from tests.browser_fixtures import sign_in
from tests.experiments.judged import experiment_of
from tests.files.test_files import _own_folder  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOG = "a log of three steps <b>and no markup</b>"


@pytest.fixture
def answered(page, live_server, project, alice):
    """Two results whose first outputs left a file each; (the later one, the earlier one)."""
    made = [experiment_of(project, 2, system=name) for name in ("assistant 1", "assistant 2")]
    for experiment in made:
        name = f"what {experiment.system.name} did while it looked for the answer to a rather long question.log"
        file = keep(project, alice, ContentFile(f"{LOG} {experiment.pk}".encode(), name=name))
        bodies = OutputBody.objects.filter(output=experiment.output_set.order_by("pk").first())
        bodies.update(outputs={"value": "See the log.", "files": [file.get_absolute_url()]})
    sign_in(page, live_server, alice)
    return made[1], made[0]


def downloaded(page, link) -> str:
    with page.expect_download() as told:
        link.press("Enter")
    return Path(told.value.path()).read_text()


def test_the_panel_of_a_case_lists_its_files_to_download_and_to_look_at(page, live_server, answered):
    experiment, _ = answered
    page.goto(live_server.url + experiment.get_absolute_url())
    page.get_by_role("link", name="case-000").first.click()
    files = page.get_by_role("region", name="Attached files")
    files.get_by_text("outputs.files[0]").wait_for()
    assert looked_at(page) == []
    assert downloaded(page, files.get_by_role("link", name="Download")) == f"{LOG} {experiment.pk}"
    with page.context.expect_page() as opened:
        files.get_by_role("link", name="as text").press("Enter")
    opened.value.wait_for_load_state()
    expect(opened.value.locator("body")).to_have_text(f"{LOG} {experiment.pk}")


def test_the_panel_of_a_pair_lists_the_files_of_either_side(page, live_server, answered):
    experiment, baseline = answered
    page.goto(live_server.url + experiment.url_against(baseline.pk))
    page.get_by_role("link", name="case-000").first.click()
    for one in (baseline, experiment):
        files = page.get_by_role("region", name=f"Files of {one.system.name}")
        assert downloaded(page, files.get_by_role("link", name="Download")) == f"{LOG} {one.pk}"
    assert looked_at(page) == []
