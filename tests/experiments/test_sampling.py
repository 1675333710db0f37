"""Which outputs stand for an experiment."""

import pytest

from experiments.analysis.sampling import sample_ids
from experiments.models import Output
from tests.experiments.judged import experiment_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def experiment(project):
    return experiment_of(project, 60)


def ids_of(experiment):
    return list(Output.objects.filter(experiment=experiment).order_by("pk").values_list("pk", flat=True))


def test_a_sample_has_one_output_from_every_stretch(experiment):
    places = [ids_of(experiment).index(each) for each in sample_ids(experiment, 10)]
    assert [place // 6 for place in places] == list(range(10))
    assert len({place % 6 for place in places}) > 1  # not simply every sixth


def test_the_same_sample_comes_again_and_another_experiment_has_another(project, experiment):
    other = experiment_of(project, 60, system="assistant 2")
    place = {each.pk: number for one in (experiment, other) for number, each in enumerate(_outputs(one))}
    samples = [[place[each] for each in sample_ids(one, 10)] for one in (experiment, other)]
    assert sample_ids(experiment, 10) == sample_ids(experiment, 10)
    assert samples[0] != samples[1]


def _outputs(experiment):
    return Output.objects.filter(experiment=experiment).order_by("pk")


def test_all_outputs_come_where_there_are_no_more(experiment):
    assert sample_ids(experiment, 60) == sample_ids(experiment, 200) == ids_of(experiment)


def test_against_a_baseline_only_outputs_with_a_partner_come(project, experiment):
    baseline = experiment_of(project, 60, system="assistant 2")
    lost = set(_outputs(baseline).values_list("case", flat=True)[:50])
    Output.objects.filter(experiment=baseline, case__in=lost).delete()
    chosen = Output.objects.filter(pk__in=sample_ids(experiment, 8, baseline))
    assert chosen.count() == 8
    assert not lost & set(chosen.values_list("case", flat=True))


def test_it_takes_two_queries_however_many_outputs(experiment, django_assert_num_queries):
    with django_assert_num_queries(2):
        sample_ids(experiment, 20)
