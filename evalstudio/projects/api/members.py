"""REST views of members and invitations."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects import membership
from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import Invitation, Membership, Role
from evalstudio.web.pagination import Order

ROLES = [role.title for role in Role]


class RoleField(serializers.ChoiceField):
    """A role by its title."""

    def __init__(self, **options: object) -> None:
        super().__init__(ROLES, **options)

    def to_representation(self, value: int) -> str:
        return Role(value).title

    def to_internal_value(self, data: object) -> Role:
        return Role[super().to_internal_value(data).upper()]


class MemberSerializer(serializers.ModelSerializer):
    """A person of the project."""

    class Meta:
        model = Membership
        fields = ("id", "name", "role", "joined_at")
        read_only_fields = ("id", "joined_at")

    name = serializers.CharField(source="user.username", read_only=True)
    role = RoleField()


class InvitationSerializer(serializers.ModelSerializer):
    """An open invitation. Its path is told once, to whoever made it."""

    class Meta:
        model = Invitation
        fields = ("id", "note", "role", "expires_at")
        read_only_fields = ("id", "expires_at")

    role = RoleField()


class NewInvitationSerializer(serializers.ModelSerializer):
    """An invitation that was just made, with the path of its link."""

    class Meta:
        model = Invitation
        fields = ("id", "note", "role", "expires_at", "path")
        read_only_fields = fields

    role = RoleField()
    path = serializers.CharField(read_only=True, help_text="Open it on this host to join. It is never told again.")


class MemberList(ProjectView):
    @listing("members_list", "List members", MemberSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = Membership.objects.filter(project=self.project).select_related("user")
        return self.page(rows, Order("id"), lambda found: MemberSerializer(found, many=True).data)


class MemberDetail(ProjectView):
    writes = Role.OWNER

    def _member(self, pk: int) -> Membership:
        return get_object_or_404(Membership.objects.select_related("user", "project"), pk=pk, project=self.project)

    @extend_schema(
        operation_id="members_change",
        summary="Give a member another role",
        request=MemberSerializer,
        responses=MemberSerializer,
    )
    def patch(self, request: Request, project: str, pk: int) -> Response:
        member = self._member(pk)
        form = MemberSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        try:
            membership.change_role(member, form.validated_data["role"], request.user)
        except membership.LastOwner as error:
            raise serializers.ValidationError({"role": [str(error)]}) from None
        return Response(MemberSerializer(member).data)

    @extend_schema(operation_id="members_remove", summary="Remove a member, and their tokens", responses={204: None})
    def delete(self, request: Request, project: str, pk: int) -> Response:
        try:
            membership.remove(self._member(pk), request.user)
        except membership.LastOwner as error:
            raise PermissionDenied(str(error)) from None
        return Response(status=204)


class InvitationList(ProjectView):
    reads = writes = Role.OWNER

    @listing("invitations_list", "List open invitations", InvitationSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = membership.open_invitations(self.project)
        return self.page(rows, Order("id"), lambda found: InvitationSerializer(found, many=True).data)

    @extend_schema(
        operation_id="invitations_create",
        summary="Invite somebody",
        request=InvitationSerializer,
        responses={201: NewInvitationSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        form = InvitationSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = form.validated_data
        invitation, secret = membership.invite(self.project, request.user, said["role"], said.get("note", ""))
        told = InvitationSerializer(invitation).data | {"path": f"/join/{secret}/"}
        return Response(told, status=201)
