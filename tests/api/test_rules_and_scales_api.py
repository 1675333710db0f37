"""The publishing rule and the shelf of scales over REST: what the pages do."""

import pytest

from evalstudio.projects.models import AuditEntry
from evaluators.models import PublishingRule, Scale

RULE = "/api/projects/support/publishing-rule/"


def put(client, **rule):
    return client.put(RULE, rule, content_type="application/json")


def test_a_rule_is_set_read_and_lifted(as_alice, project):
    nothing = {"least_cases": 1, "min_agreement": None, "min_sensitivity": None, "min_specificity": None}
    assert as_alice.get(RULE).json() == nothing
    assert put(as_alice, min_agreement=0.9, least_cases=20).json() == nothing | {
        "min_agreement": 0.9,
        "least_cases": 20,
    }
    assert PublishingRule.objects.get().min_agreement == 0.9
    assert put(as_alice).json() == nothing
    assert not PublishingRule.objects.exists()
    assert [entry.act for entry in AuditEntry.objects.order_by("id")] == ["set", "lifted"]


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"min_agreement": 1.2}, "min_agreement"),
        ({"min_sensitivity": 0.9}, "min_specificity"),
        ({"least_cases": 0}, "least_cases"),
    ],
)
def test_a_wrong_rule_names_its_field_and_changes_nothing(as_alice, project, rule, field):
    reply = put(as_alice, **rule)
    assert reply.status_code == 400
    assert field in str(reply.json())
    assert not PublishingRule.objects.exists()


def test_a_viewer_reads_the_rule_and_cannot_set_it(client, bob, project):
    client.force_login(bob)
    assert client.get(RULE).status_code == 200
    assert put(client, min_agreement=0.9).status_code == 403


def test_a_scale_is_archived_and_restored(as_alice, project):
    scale = Scale.objects.create(project=project, name="Marks", scoring={"type": "percentage"})
    address = f"/api/projects/support/scales/{scale.pk}/"
    assert as_alice.post(f"{address}archive/").json()["archived_at"] is not None
    assert as_alice.get("/api/projects/support/scales/").json()["results"] == []
    assert as_alice.post(f"{address}restore/").json()["archived_at"] is None
