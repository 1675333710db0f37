"""The case picker of the test bench: any case of any data set, handed over as plain JSON."""

import json

import pytest
from django.urls import reverse

from evalstudio.projects.models import Project
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Experiment, Output, OutputBody, System


def dataset_of(project, name, n):
    dataset = Dataset.objects.create(project=project, name=name, latest_version=1)
    DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=n)
    for number in range(n):
        content = {"inputs": {"question": f"{name} {number}?"}, "expected_outputs": {"value": f"right {number}"}}
        case = Case.objects.create(dataset=dataset, key=f"{name}-{number:03}", content_hash=str(number), **content)
        CaseSpan.objects.create(dataset=dataset, case=case, key=case.key, position=number, added_in=1)
    return dataset


def answered(dataset, name):
    system, _ = System.objects.get_or_create(project=dataset.project, name=name)
    experiment = Experiment.objects.create(
        project=dataset.project, system=system, dataset_version=dataset.versions.get(number=1), source="file"
    )
    for case in Case.objects.filter(dataset=dataset):
        output = Output.objects.create(experiment=experiment, case=case, content_hash="x")
        OutputBody.objects.create(
            output=output, outputs={"value": f"{name} on {case.key}"}, steps=[{"name": "look up"}]
        )
    return experiment


@pytest.fixture
def pick(as_alice, project):
    def get(**query):
        return as_alice.get(reverse("bench-picker", args=[project.slug]), query)

    return get


def sample(reply):
    return json.loads(reply.context["sample"])


def test_it_offers_the_newest_experiment_and_its_first_case(pick, project):
    answered(dataset_of(project, "old", 2), "Bot")
    experiment = answered(dataset_of(project, "new", 2), "Bot")
    reply = pick()
    assert reply.context["picked"].experiment == experiment
    assert sample(reply) == {
        "inputs": {"question": "new 0?"},
        "expectedOutputs": {"value": "right 0"},
        "outputs": {"value": "Bot on new-000"},
        "steps": [{"name": "look up"}],
    }
    assert {"path": "steps[0].name", "preview": "look up"} in reply.context["paths"]


def test_an_experiment_in_the_address_brings_its_data_set(pick, project):
    experiment = answered(dataset_of(project, "old", 2), "Bot")
    answered(dataset_of(project, "new", 2), "Bot")
    case = Case.objects.get(key="old-001")
    assert sample(pick(experiment=experiment.pk, case=case.pk))["outputs"] == {"value": "Bot on old-001"}


def test_one_can_step_through_the_cases_and_find_them_by_key(pick, project):
    dataset = dataset_of(project, "faq", 60)
    first = pick(dataset=dataset.pk).context["picked"].span
    second = pick(dataset=dataset.pk, case=first.case_id, step="next").context["picked"].span
    assert second.key == "faq-001"
    assert pick(dataset=dataset.pk, case=second.case_id, step="previous").context["picked"].span == first
    assert pick(dataset=dataset.pk, case=first.case_id, step="previous").context["picked"].span == first
    found = pick(dataset=dataset.pk, case_q="faq-05").context["cases"]
    assert [key for _, key, _ in found] == [f"faq-05{number}" for number in range(10)]
    assert "No case has “zzz” in its key." in pick(dataset=dataset.pk, case_q="zzz").content.decode()


def test_a_long_data_set_lists_the_cases_around_the_chosen_one(pick, project):
    dataset = dataset_of(project, "faq", 60)
    case = Case.objects.get(key="faq-030")
    picked = pick(dataset=dataset.pk, case=case.pk).context["picked"]
    assert [span.key for span in picked.listed] == [f"faq-0{number}" for number in range(10, 51)]
    assert (picked.has_previous, picked.has_next) == (True, True)


def test_an_experiment_shows_the_cases_of_its_own_version(pick, project):
    dataset = dataset_of(project, "faq", 3)
    experiment = answered(dataset, "Bot")
    CaseSpan.objects.filter(key="faq-000").update(removed_in=2)
    Dataset.objects.filter(pk=dataset.pk).update(latest_version=2)
    DatasetVersion.objects.create(dataset=dataset, number=2, n_cases=2)
    keys = [span.key for span in pick(experiment=experiment.pk).context["picked"].listed]
    assert keys == ["faq-000", "faq-001", "faq-002"]
    keys = [span.key for span in pick(dataset=dataset.pk, experiment="pasted").context["picked"].listed]
    assert keys == ["faq-001", "faq-002"]


def test_without_an_experiment_the_output_is_pasted(pick, project):
    dataset_of(project, "faq", 1)
    reply = pick()
    assert "outputs" not in sample(reply)
    assert 'name="sample_outputs"' in reply.content.decode()


def test_a_comparison_picks_the_newest_result_and_the_one_before_as_its_baseline(pick, project):
    dataset = dataset_of(project, "faq", 2)
    answered(dataset, "Old")
    answered(dataset, "New")
    reply = pick(runs_on="comparison")
    assert sample(reply)["outputs"] == {"value": "Old on faq-000"}
    assert sample(reply)["comparison"]["outputs"] == {"value": "New on faq-000"}
    page = reply.content.decode()
    assert "Baseline output" in page
    assert "New on faq-000" in page.partition("Compared output")[2]
    assert {"path": "comparison.outputs.value", "preview": "New on faq-000"} in reply.context["paths"]


def test_either_side_of_a_comparison_can_be_chosen_or_pasted(pick, project):
    dataset = dataset_of(project, "faq", 1)
    old, new = answered(dataset, "Old"), answered(dataset, "New")
    turned = pick(runs_on="comparison", experiment=new.pk, compared=old.pk)
    assert sample(turned)["comparison"]["outputs"] == {"value": "Old on faq-000"}
    pasted = pick(runs_on="comparison", experiment=new.pk, compared="pasted")
    assert "comparison" not in sample(pasted)
    assert 'name="sample_comparison"' in pasted.content.decode()
    assert 'name="sample_outputs"' not in pasted.content.decode()


def test_turning_to_a_comparison_keeps_the_result_at_hand_as_the_compared_one(pick, project):
    dataset = dataset_of(project, "faq", 1)
    old = answered(dataset, "Old")
    answered(dataset, "New")
    assert sample(pick(runs_on="comparison", experiment=old.pk))["comparison"]["outputs"] == {"value": "Old on faq-000"}


def test_one_result_is_compared_with_nothing(pick, project):
    dataset = dataset_of(project, "faq", 1)
    old = answered(dataset, "Old")
    answered(dataset, "New")
    assert "comparison" not in sample(pick(compared=old.pk))


def test_an_empty_project_leads_to_the_import(pick, project):
    assert reverse("import-new", args=[project.slug]) in pick().content.decode()


def test_nothing_of_another_project_can_be_picked(pick, as_alice, project, alice):
    other = dataset_of(Project.start("Other", alice), "secret", 1)
    dataset_of(project, "faq", 1)
    case = Case.objects.get(dataset=other)
    assert "secret" not in pick(dataset=other.pk, case=case.pk).content.decode()
    assert as_alice.get(reverse("bench-sample", args=[project.slug]), {"case": case.pk}).status_code == 404


def test_nonsense_in_the_address_picks_the_first(pick, project):
    dataset_of(project, "faq", 2)
    picked = pick(dataset="x", experiment="y", case="²", step="up").context["picked"]
    assert picked.span.key == "faq-000"


def test_texts_of_a_case_are_escaped(pick, project):
    dataset = dataset_of(project, "faq", 1)
    Case.objects.filter(dataset=dataset).update(inputs={"question": "</textarea><script>alert(1)</script>"})
    assert "<script>alert" not in pick().content.decode()


def test_one_case_is_given_as_json(as_alice, project):
    experiment = answered(dataset_of(project, "faq", 1), "Bot")
    case = Case.objects.get()
    url = reverse("bench-sample", args=[project.slug])
    parts = as_alice.get(url, {"case": case.pk, "experiment": experiment.pk}).json()
    assert parts["outputs"] == {"value": "Bot on faq-000"}
    assert "outputs" not in as_alice.get(url, {"case": case.pk}).json()
    assert as_alice.get(url).status_code == 404


def test_it_asks_as_often_for_sixty_cases_as_for_one(pick, project, django_assert_num_queries):
    answered(dataset_of(project, "small", 1), "Bot")
    pick()
    with django_assert_num_queries(11):  # one of them asks for the processor
        pick()
    answered(dataset_of(project, "large", 60), "Bot")
    with django_assert_num_queries(11):  # one of them asks for the processor
        pick()


def test_a_stranger_finds_nothing(client, charlie, project):
    client.force_login(charlie)
    assert client.get(reverse("bench-picker", args=[project.slug])).status_code == 404
