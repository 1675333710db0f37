"""Pictures that cases and outputs name are shown beside the texts, alone and in a comparison."""

import base64

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from evalstudio.files.keeping import keep
from experiments.models import Case, Output, OutputBody
from tests.experiments.judged import experiment_of
from tests.files.test_files import _own_folder, png  # noqa: F401

pytestmark = pytest.mark.django_db


@pytest.fixture
def output(project, alice) -> Output:
    """The first output of an experiment: its case, itself and a step name a picture, each another one."""
    experiment = experiment_of(project, 2)
    output = Output.objects.filter(experiment=experiment).order_by("pk").first()
    kept = [keep(project, alice, ContentFile(png(shade), name=f"{shade}.png")) for shade in range(3)]
    addresses = [f"https://studio.example{stored.get_absolute_url()}" for stored in kept]
    Case.objects.filter(pk=output.case_id).update(inputs={"question": "What is on it?", "photo": addresses[0]})
    steps = [{"name": "draw", "output": {"image": addresses[2]}}]
    OutputBody.objects.filter(pk=output.pk).update(outputs={"value": "A cat.", "drawn": [addresses[1]]}, steps=steps)
    return output


def shown(page: str) -> list[str]:
    return [part.split('"')[0] for part in page.split('<img src="')[1:]]


def test_the_peek_shows_them_where_they_stand(as_alice, project, output):
    address = reverse("experiment-peek", args=[project.slug, output.experiment_id, output.pk])
    page = as_alice.get(address).content.decode()
    assert len(shown(page)) == 3
    assert all(as_alice.get(source).status_code == 200 for source in shown(page))
    assert "Picture at photo, a file of this project" in page


def test_a_picture_that_is_written_out_is_a_picture_and_no_wall_of_letters(as_alice, project, output):
    written = f"data:image/png;base64,{base64.b64encode(png() + bytes(3000)).decode()}"
    OutputBody.objects.filter(pk=output.pk).update(outputs={"value": written}, steps=None)
    address = reverse("experiment-peek", args=[project.slug, output.experiment_id, output.pk])
    page = as_alice.get(address).content.decode()
    assert written in shown(page)
    assert f"({len(written):,} characters)" in page
