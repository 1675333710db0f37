"""The page of one evaluator: its versions, and what differs between any two."""

import pytest
from django.urls import reverse

from evaluators.models import Evaluator, EvaluatorVersion, Scale
from tests.evaluators.editor_forms import heuristic_fields, judge_fields, rehearsal

pytestmark = pytest.mark.django_db
PROMPT = "Question: {{ inputs.question }}\nAnswer: {{ outputs.value }}\nIs it right?"


@pytest.fixture
def save(as_alice, project):
    """Save fields through the editor as alice; the evaluator."""

    def save(fields):
        evaluator = Evaluator.objects.filter(name=fields["name"]).first()
        if evaluator:
            address = reverse("evaluator-edit", args=[project.slug, evaluator.pk])
            fields = fields | {"evaluator": evaluator.pk, "base": evaluator.versions.count()}
        else:
            address = reverse("evaluator-new", args=[project.slug, fields["kind"]]) + "?draft=k1"
        reply = as_alice.post(address, fields)
        assert reply.status_code == 302, reply.content.decode()
        return Evaluator.objects.get(name=fields["name"])

    return save


@pytest.fixture
def page(as_alice):
    def page(evaluator, query=""):
        reply = as_alice.get(evaluator.get_absolute_url() + query)
        assert reply.status_code == 200
        return reply.content.decode()

    return page


def test_two_versions_are_compared_word_by_word_and_setting_by_setting(save, page, project):
    connection = rehearsal(project)
    save(judge_fields(connection, prompt=PROMPT))
    changed = judge_fields(connection, prompt=PROMPT.replace("right?", "quite right?"), threshold="60", note="Stricter")
    evaluator = save(changed | {"option_label": ["Right", "Off"]})
    text = page(evaluator, "?version=2&against=1")
    assert "From v1 to v2" in text
    assert "Is it <ins>quite </ins>right?" in text
    assert "<del>50</del>" in text
    assert "<ins>60</ins>" in text
    assert "<del>Wrong</del>" in text
    assert "<ins>Off</ins>" in text
    assert ">Temperature<" not in text, "what is the same is left out"


def test_the_address_of_a_comparison_may_go_either_way(save, page, project):
    save(heuristic_fields(threshold="50"))
    evaluator = save(heuristic_fields(threshold="75"))
    assert "<del>75</del>" in page(evaluator, "?version=1&against=2")
    assert "say the same" in page(evaluator, "?version=2&against=2")


def test_a_version_is_shown_by_the_labels_of_its_form(save, page, project):
    connection = rehearsal(project)
    more = {"variable_name": ["Truth"], "variable_path": ["expectedOutputs.value"], "guide": "Think first."}
    text = page(save(judge_fields(connection, prompt=PROMPT, **more)))
    assert "<dt>Variables</dt>" in text
    assert "Truth · expectedOutputs.value" in text
    assert "<h3>Reasoning guide</h3>" in text
    assert "rehearsal · Rehearsal" in text


def test_one_result_has_no_orders_and_a_comparison_says_that_it_is_one(save, page, project):
    connection = rehearsal(project)
    text = page(save(judge_fields(connection, prompt=PROMPT)))
    assert "Ask in both orders" not in text
    assert "Comparative" not in text
    both = "{{ outputs.value }} {{ comparison.outputs.value }}"
    pair = save(judge_fields(connection, name="Better", runs_on="comparison", prompt=both))
    assert "<dt>Ask in both orders</dt>" in page(pair)
    assert "Comparative, AI judge" in page(pair)


def test_a_saved_evaluator_can_be_run_from_its_page(save, page, project):
    evaluator = save(judge_fields(rehearsal(project), prompt=PROMPT))
    address = reverse("evaluator-run", args=[project.slug, evaluator.pk])
    assert f'href="{address}"' in page(evaluator)
    evaluator.archive(None)
    assert f'href="{address}"' not in page(evaluator)


def test_a_scale_is_compared_by_its_name(save, page, project, alice):
    options = [{"label": "Yes", "percentage": 100}, {"label": "No", "percentage": 0}]
    scale = Scale.objects.create(project=project, name="Truth", scoring={"type": "enum", "options": options})
    save(judge_fields(rehearsal(project)))
    evaluator = save(judge_fields(rehearsal_of(project), scale=str(scale.pk)))
    assert "<ins>Truth</ins>" in page(evaluator, "?version=2&against=1")


def rehearsal_of(project):
    from evalstudio.calls.models import Connection

    return Connection.objects.get(project=project)


@pytest.mark.parametrize("query", ["?version=9", "?version=1&against=9", "?version=x", "?version=1&against=-1"])
def test_a_version_that_there_is_not_is_not_found(save, as_alice, query):
    evaluator = save(heuristic_fields())
    assert as_alice.get(evaluator.get_absolute_url() + query).status_code == 404


def test_a_version_that_cannot_be_read_says_so_beside_one_that_can(save, page):
    evaluator = save(heuristic_fields())
    EvaluatorVersion.objects.update(config={"nothing": "of use"}, config_schema=1)
    assert "v1 cannot be read any more" in page(evaluator)
    evaluator.revise({"code": "", "seed": 0}, schema=9, author=None)
    assert "cannot be read any more" in page(evaluator, "?version=2&against=1")


def test_many_versions_come_in_pages_and_take_no_more_queries(save, page, django_assert_max_num_queries):
    evaluator = save(heuristic_fields())
    config = evaluator.versions.get().config
    for number in range(40):
        evaluator.revise(config | {"seed": number + 1}, schema=2, author=None, note=f"Seed {number + 1}")
    with django_assert_max_num_queries(24):
        text = page(evaluator)
    assert "Seed 40" in text
    assert "Seed 10<" not in text
    assert 'rel="next"' in text


def test_markup_in_a_prompt_stays_text_in_a_comparison(save, page, project):
    connection = rehearsal(project)
    save(judge_fields(connection, prompt=PROMPT))
    evaluator = save(judge_fields(connection, prompt=PROMPT + "\n<img src=x onerror=alert(1)>"))
    text = page(evaluator, "?version=2&against=1")
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
