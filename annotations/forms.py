"""Queues as people type them: what is asked, who is asked, and what several grades come to."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import F

from annotations.access import graders_of
from annotations.models import Order, Queue, Rule
from evalstudio.projects.models import Project
from evaluators.kinds.human import Human
from evaluators.models import Evaluator, EvaluatorVersion

MOST_INSTRUCTIONS = 20_000
MOST_GRADERS = 20
ORDERS = [
    (Order.RANDOM, "At random"),
    (Order.INFORMATIVE, "What tells most first: drawn at random, likelier where judges are unsure or differ"),
    (Order.WORST, "Worst first, as judges scored them"),
    (Order.OLDEST, "As the outputs came"),
]
RULES = [
    (Rule.MAJORITY, "What most chose; a tie asks one more person. Of numbers the median"),
    (Rule.MEAN, "The mean of the scores"),
    (Rule.ADJUDICATION, "Where they differ, one person decides"),
]


class PeopleField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, person: Any) -> str:
        return person.get_full_name() or person.username


class PersonField(forms.ModelChoiceField):
    def label_from_instance(self, person: Any) -> str:
        return person.get_full_name() or person.username


class VersionsField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, version: Any) -> str:
        return f"{version.evaluator.name} {version}"


def versions_for(project: Project, *, compares: bool) -> Any:
    """The published versions of the human evaluators in use, those that compare two results or those that do not."""
    found = EvaluatorVersion.objects.filter(
        pk=F("evaluator__published_version"),
        evaluator__in=Evaluator.objects.in_use().filter(project=project, kind=Human.key, compares=compares),
    )
    return found.select_related("evaluator").order_by("evaluator__name")


class QueueForm(forms.ModelForm):
    """What can be changed at any time."""

    class Meta:
        model = Queue
        fields: tuple[str, ...] = ("name", "instructions", "reviewers", "rule", "adjudicator", "is_blind")
        labels = {"is_blind": "Hide systems, judges’ verdicts and colleagues’ grades"}
        widgets = {"instructions": forms.Textarea(attrs={"rows": 6, "spellcheck": "true"})}

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    instructions = forms.CharField(
        max_length=MOST_INSTRUCTIONS,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "true"}),
        help_text="Markdown, above the instructions of each evaluator. Changing them marks earlier grades as stale.",
    )
    rule = forms.ChoiceField(label="What several grades come to", choices=RULES, widget=forms.RadioSelect)

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        self.project = project
        people = graders_of(project)
        self.fields["reviewers"] = PeopleField(
            people,
            label="Who grades",
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text="Nobody chosen: everybody who may grade.",
        )
        self.fields["adjudicator"] = PersonField(
            people, label="Who decides where grades differ", required=False, empty_label="Any editor"
        )

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if Queue.objects.filter(project=self.project, name=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(f"There is a queue “{name}” already.")
        return name

    def clean_instructions(self) -> str:
        return self.cleaned_data["instructions"].replace("\r\n", "\n").strip()


class NewQueueForm(QueueForm):
    """What is decided once, when a queue is made."""

    class Meta(QueueForm.Meta):
        fields = (*QueueForm.Meta.fields, "graders", "order")

    graders = forms.IntegerField(
        label="People per item",
        initial=1,
        min_value=1,
        max_value=MOST_GRADERS,
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value", "required"), f"Give a whole number from 1 to {MOST_GRADERS}."
        ),
    )
    order = forms.ChoiceField(label="Order", choices=ORDERS, widget=forms.RadioSelect)
    repeated = forms.IntegerField(
        label="Ask again, %",
        required=False,
        initial=0,
        min_value=0,
        max_value=50,
        help_text="So many items come a second time, unannounced, to see how steady a person is.",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "Give per cent from 0 to 50."),
    )

    def __init__(self, *args: Any, compares: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["versions"] = VersionsField(
            versions_for(self.project, compares=compares),
            label="Grade by",
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one human evaluator."},
        )


class IntakeForm(forms.Form):
    """By which rule new outputs come in."""

    rule = forms.ChoiceField(
        label="Which outputs",
        choices=[
            ("failed", "Whatever does not pass an evaluator"),
            ("disagreement", "What two evaluators decide differently"),
            ("share", "Some of all new outputs, at random"),
        ],
        initial="failed",
        widget=forms.RadioSelect,
    )
    share = forms.FloatField(
        label="Per cent of new outputs",
        required=False,
        initial=5,
        min_value=0.01,
        max_value=100,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "Give per cent from 0.01 to 100."),
    )

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        super().__init__(*args, **options)
        judges = Evaluator.objects.in_use().filter(project=project, compares=False, published_version__isnull=False)
        judges = judges.order_by("name")
        self.fields["evaluator"] = forms.ModelChoiceField(
            judges, label="Evaluator", required=False, empty_label="Choose one"
        )
        self.fields["other"] = forms.ModelChoiceField(
            judges, label="The other evaluator", required=False, empty_label="Choose one"
        )

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        rule = said.get("rule")
        if rule in ("failed", "disagreement") and not said.get("evaluator"):
            self.add_error("evaluator", "Choose an evaluator.")
        if rule == "disagreement" and not said.get("other"):
            self.add_error("other", "Choose the other one.")
        if rule == "disagreement" and said.get("other") and said.get("other") == said.get("evaluator"):
            self.add_error("other", "Choose another one: it always agrees with itself.")
        if rule == "share" and not said.get("share") and "share" not in self.errors:
            self.add_error("share", "Give per cent from 0.01 to 100.")
        return said

    def intake(self) -> dict[str, Any]:
        """The rule as a queue keeps it."""
        said = self.cleaned_data
        match said["rule"]:
            case "failed":
                return {"rule": "failed", "evaluator": said["evaluator"].pk}
            case "disagreement":
                return {"rule": "disagreement", "evaluator": said["evaluator"].pk, "other": said["other"].pk}
        return {"rule": "share", "share": said["share"] / 100}
