"""Files that outputs name and that are no pictures: found in the data, listed in the peek."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from evalstudio.files.attachments import attachments_in
from evalstudio.files.keeping import keep
from evalstudio.files.pictures import pictures_in
from evalstudio.projects.models import Project
from experiments.models import Case, Output, OutputBody
from tests.experiments.judged import experiment_of
from tests.files.test_files import _own_folder, png  # noqa: F401

pytestmark = pytest.mark.django_db


def kept(project, alice, name, content=b"content"):
    return keep(project, alice, ContentFile(content + name.encode(), name=name))


def test_files_are_found_anywhere_in_the_data_and_pictures_are_left_to_pictures(project, alice):
    report, picture = kept(project, alice, "report.pdf"), kept(project, alice, "cat.png", png())
    data = {"files": [report.get_absolute_url(), {"url": f"https://any.host{picture.get_absolute_url()}"}], "n": 1}

    assert [(one.path, one.file) for one in attachments_in(data, project)] == [("files[0]", report)]
    assert [picture.path for picture in pictures_in(data, project.slug)] == ["files[1]"]


def test_they_come_in_the_order_of_the_data_and_each_once(project, alice):
    files = [kept(project, alice, f"{n}.csv") for n in range(3)]
    data = [files[2].get_absolute_url(), files[0].get_absolute_url(), files[2].get_absolute_url()]

    assert [one.file.name for one in attachments_in(data, project)] == ["2.csv", "0.csv"]


def test_a_file_of_another_project_is_not_listed(project, alice):
    theirs = kept(Project.start("Other", alice), alice, "secret.pdf")

    assert attachments_in({"file": theirs.get_absolute_url()}, project) == []


def test_data_without_addresses_costs_no_query(project, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert attachments_in({"value": "text", "deep": [[[["x"]]]]}, project) == []


def test_the_peek_lists_name_type_and_size_to_download_and_text_to_look_at(as_alice, project, alice):
    output = Output.objects.filter(experiment=experiment_of(project, 1)).first()
    files = [kept(project, alice, "report.pdf"), kept(project, alice, "trace.log")]
    OutputBody.objects.filter(pk=output.pk).update(outputs={"files": [file.get_absolute_url() for file in files]})

    page = as_alice.get(reverse("experiment-peek", args=[project.slug, output.experiment_id, output.pk]))
    text = page.content.decode()

    assert "outputs.files[0]</code>, application/pdf" in text
    assert text.count('download="report.pdf"') == 2
    assert f"{files[1].get_absolute_url()}?as=text" in text
    assert f"{files[0].get_absolute_url()}?as=text" not in text
    assert "<img" not in text


def test_the_peek_of_a_pair_lists_the_files_of_either_side_and_of_the_case(as_alice, project, alice):
    mine, theirs = (experiment_of(project, 1, system=name) for name in ("new", "old"))
    report, draft, brief = (kept(project, alice, name) for name in ("report.pdf", "draft.pdf", "brief.txt"))
    for experiment, file in ((mine, report), (theirs, draft)):
        bodies = OutputBody.objects.filter(output__experiment=experiment)
        bodies.update(outputs={"value": "See the file.", "file": file.get_absolute_url()})
    Case.objects.update(inputs={"brief": brief.get_absolute_url()})
    output = mine.output_set.get()
    peek = f"{mine.url_against(theirs.pk)}peek/{output.pk}/"

    for text in (as_alice.get(peek, {"text": name}).content.decode() for name in ("side", "inline")):
        files = text[text.index("Files of old") :]
        places = ['download="draft.pdf"', "Files of new", 'download="report.pdf"', "Files of the case", "brief.txt"]
        assert sorted(places, key=files.index) == places
