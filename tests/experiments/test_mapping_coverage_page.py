"""Beside the mapping of an evaluator stands in how many cases each path finds nothing."""

import pytest
from django.urls import reverse

from experiments.models import Case, OutputBody
from tests.evaluators.editor_forms import heuristic_fields, judge_fields, rehearsal
from tests.experiments.test_bench_picker_page import answered, dataset_of

PROMPT = "{{ inputs.question }} {{ outputs.value }}"


@pytest.fixture
def reaches(as_alice, project):
    """(the paths with found, seen and suggestion; the page) of a judge with these fields."""
    connection = rehearsal(project)

    def ask(**more):
        fields = judge_fields(connection, **{"prompt": PROMPT} | more)
        reply = as_alice.post(reverse("mapping-coverage", args=[project.slug]), fields)
        assert reply.status_code == 200
        found = reply.context.get("reaches", [])
        return {each.path: (each.found, each.seen, each.suggestion) for each in found}, reply.content.decode()

    return ask


def test_each_path_is_looked_up_in_every_output(reaches, project):
    answered(dataset_of(project, "faq", 4), "Bot")
    OutputBody.objects.filter(output__case__key="faq-001").update(outputs={"answer": "elsewhere"})
    found, page = reaches()
    assert found == {"inputs.question": (4, 4, None), "outputs.value": (3, 4, None)}
    assert "All 4 outputs of Bot" in page
    assert "25.0\u00a0% lack it" in page


def test_a_path_that_no_case_has_comes_with_the_one_that_was_meant(reaches, project):
    answered(dataset_of(project, "faq", 2), "Bot")
    found, page = reaches(variable_name=["Truth"], variable_path=["expectedOutputs.valu"])
    assert found["expectedOutputs.valu"] == (0, 2, "expectedOutputs.value")
    assert "No case has it" in page
    assert 'data-fix-from="expectedOutputs.valu" data-fix-to="expectedOutputs.value"' in page


def test_paths_of_variables_and_images_count_though_the_prompt_is_not_right_yet(reaches, project):
    answered(dataset_of(project, "faq", 2), "Bot")
    found, _ = reaches(
        prompt="{{ outpust", variable_name=["Truth"], variable_path=["expectedOutputs.value"], image_path=["inputs.pic"]
    )
    assert list(found) == ["expectedOutputs.value", "inputs.pic"]


def test_the_experiment_of_the_bench_is_looked_at(reaches, project):
    dataset = dataset_of(project, "faq", 2)
    old = answered(dataset, "Old")
    answered(dataset, "New")
    OutputBody.objects.filter(output__experiment=old).update(outputs={})
    assert reaches(experiment=old.pk)[0]["outputs.value"] == (0, 2, None)
    assert reaches()[0]["outputs.value"] == (2, 2, None)


def test_steps_are_read_where_a_path_leads_to_them(reaches, project):
    answered(dataset_of(project, "faq", 2), "Bot")
    assert reaches(prompt="{{ steps[0].name }}")[0] == {"steps[0].name": (2, 2, None)}


def test_of_a_comparison_the_cases_that_both_answered_count(reaches, project):
    dataset = dataset_of(project, "faq", 3)
    old = answered(dataset, "Old")
    answered(dataset, "New")
    old.output_set.filter(case__key="faq-000").update(error="timeout")
    prompt = "{{ outputs.value }} {{ comparison.outputs.value }} {{ comparison.outputs.note }}"
    found, page = reaches(runs_on="comparison", prompt=prompt)
    assert found["comparison.outputs.value"] == (2, 2, None)
    assert found["comparison.outputs.note"][:2] == (0, 2)
    assert "cases that Old and New both answered" in page


def test_without_outputs_the_cases_are_looked_at_and_outputs_are_left_to_the_bench(reaches, project):
    dataset_of(project, "faq", 3)
    found, page = reaches()
    assert found == {"inputs.question": (3, 3, None)}
    assert "pasted in the bench" in page


def test_an_empty_project_and_an_empty_mapping_say_what_to_do(reaches, project):
    assert "once the project has cases" in reaches()[1]
    dataset_of(project, "faq", 1)
    assert "No path is read yet" in reaches(prompt="Say something.")[1]


def test_at_most_a_thousand_outputs_are_looked_at_whatever_their_number_the_same_queries(
    reaches, project, django_assert_num_queries
):
    answered(dataset_of(project, "small", 1), "Bot")
    reaches()
    with django_assert_num_queries(10):
        reaches()
    answered(dataset_of(project, "large", 1_004), "Bot")
    with django_assert_num_queries(10):
        found, page = reaches()
    assert found["outputs.value"] == (1_000, 1_000, None)
    assert "The first 1,000 of 1,004 outputs of Bot" in page


def test_it_shows_names_of_cases_as_text(reaches, project):
    answered(dataset_of(project, "faq", 1), "Bot")
    Case.objects.update(inputs={"<b>questiom</b>": "x"})
    assert "<b>questiom" not in reaches(prompt='{{ inputs["<b>question</b>"] }}')[1]


def test_only_editors_may_ask(client, bob, charlie, project):
    for person, status in ((bob, 403), (charlie, 404)):
        client.force_login(person)
        reply = client.post(reverse("mapping-coverage", args=[project.slug]), heuristic_fields())
        assert reply.status_code == status
