"""The base of every API view: the project of the path, the caller's role in it, and the scope of their token."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalstudio.projects.allowance import Allowance, tell
from evalstudio.projects.models import ApiToken, Membership, Project, Role, Scope
from evalstudio.web.pagination import Order, page_of

PAGE_SIZE = 50
MOST = 200
PAGING = (
    OpenApiParameter("after", str, description="The page after this cursor."),
    OpenApiParameter("before", str, description="The page before this cursor."),
    OpenApiParameter("limit", int, description=f"Rows a page: {PAGE_SIZE} unless told, {MOST} at most."),
)


class TokenScheme(OpenApiAuthenticationExtension):
    """How the schema tells that a token goes into the Authorization header."""

    target_class = "evalstudio.projects.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token of the project."}


class ProjectView(APIView):
    """A view under `/api/projects/<slug:project>/`. Reading needs `reads`, everything else needs `writes`.

    `reviewers` lets them read where a viewer may.
    """

    reads = Role.VIEWER
    writes = Role.EDITOR
    reviewers = False
    project: Project
    role: Role
    allowance: tuple[Allowance, float] | None = None  # of a token, at the time of the request

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        mine = Membership.objects.select_related("project").filter(user=request.user)
        membership = mine.filter(project__slug=kwargs["project"]).first()
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if membership is None or (token and token.project_id != membership.project_id):
            raise Http404
        self.project, self.role = membership.project, Role(membership.role)
        is_reading = request.method in ("GET", "HEAD", "OPTIONS")
        least = self.reads if is_reading else self.writes
        if not self.role.may(least, reviewers=self.reviewers):
            raise PermissionDenied(f"This needs the role {least.title}.")
        if token and not is_reading and token.scope < Scope.WRITE:
            raise PermissionDenied("This token may only read.")

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        tell(response, self.allowance)
        return super().finalize_response(request, response, *args, **kwargs)

    def page(self, queryset: Any, order: Order, serialize: Any) -> Response:
        """One page of a list: `results`, and the cursors of the pages beside it (null at the ends)."""
        wanted = self.request.query_params.get("limit", "")
        size = min(MOST, max(1, int(wanted))) if wanted.isdecimal() and len(wanted) < 6 else PAGE_SIZE
        page = page_of(queryset, order, self.request.query_params, size)
        return Response({"results": serialize(page.rows), "next": page.next, "previous": page.previous})


def listing(operation_id: str, summary: str, serializer: Any, *, parameters: Any = (), description: str = "") -> Any:
    """Describe a view method that answers with one page of a list."""
    shape = inline_serializer(
        f"PageOf{serializer.__name__.removesuffix('Serializer')}",
        {
            "results": serializer(many=True),
            "next": serializers.CharField(allow_null=True, help_text="Pass it as `after` for the next page."),
            "previous": serializers.CharField(allow_null=True, help_text="Pass it as `before` for the previous page."),
        },
    )
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        parameters=[*parameters, *PAGING],
        responses=shape,
    )
