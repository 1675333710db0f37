"""A case made from an output: what was asked, with what was answered as what is expected, if wished."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment, wants_fragment
from experiments.datasets import versions
from experiments.datasets.committing import Busy, Edit, Refused, commit
from experiments.datasets.contents import Content
from experiments.forms.datasets import FromOutputForm
from experiments.models import Output


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def dataset_add_from_output(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides in which dataset this case is asked again, and what is expected then."""
    outputs = Output.objects.select_related("case", "body", "experiment__project", "experiment__dataset_version")
    output = get_object_or_404(outputs, pk=pk, experiment__project=request.project, experiment__is_arriving=False)
    own = output.experiment.dataset_version.dataset_id
    initial = {"dataset": own, "key": output.case.key, "expected": "output" if output.body.outputs else "case"}
    data = request.POST if "dataset" in request.POST else None
    form = FromOutputForm(data, project=request.project, initial=initial, auto_id=f"from-{pk}-%s")
    context: dict[str, Any] = {"output": output, "form": form}
    if data is not None and form.is_valid():
        context |= _add(request, output, form)
        if "done" in context and not wants_fragment(request):
            messages.success(request, context["done"])
            return redirect(form.cleaned_data["dataset"])
    status = 422 if form.errors or (request.method == "POST" and "done" not in context) else 200
    return page_or_fragment(request, "experiments/dataset_from_output.html", context, status=status)


def _add(request: ProjectRequest, output: Output, form: FromOutputForm) -> dict[str, Any]:
    """Commit the case: the sentence to say, or nothing where the form says why it is not in."""
    dataset, key = form.cleaned_data["dataset"], form.cleaned_data["key"]
    dataset.project = request.project
    member = versions.members(dataset, [key]).get(key)
    is_known = member and (member.case_id == output.case_id or "replace" in request.POST)
    edit = Edit(key, _content(output, form.cleaned_data["expected"]), member.case_id if member and is_known else None)
    try:
        done = commit(dataset, [edit], request.user, f"“{key[:80]}” from an output of {output.experiment}")
    except Busy as error:
        form.add_error(None, str(error))
        return {}
    except Refused as refused:
        if refused.conflicts:
            form.add_error("key", "Another case of this dataset has this key. Change the key, or replace that case.")
            return {"may_replace": True}
        form.add_error(None, " ".join(f"{fault.field}: {fault.reason}" for fault in refused.faults))
        return {}
    number = done.version.number if done.version else dataset.latest_version
    said_done = f"“{key}” is in version {number} of {dataset.name}."
    return {"done": said_done if done.version else f"Version {number} of {dataset.name} has this case already."} | {
        "into": dataset
    }


def _content(output: Output, wish: str) -> Content:
    case = output.case
    expected = {"output": output.body.outputs, "case": case.expected_outputs}.get(wish)
    return Content(case.inputs, expected or None, case.metadata, case.split)
