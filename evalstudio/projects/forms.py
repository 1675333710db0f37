"""Forms of accounts, projects and tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.contrib.auth.forms import AuthenticationForm

from evalstudio.projects.models import Role, Scope, User


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "No account has this name and password. Both are case-sensitive.",
        "inactive": "This account is switched off. An owner can switch it on.",
    }


class AccountForm(forms.Form):
    """A new account, whose name nobody else has."""

    username = forms.CharField(
        max_length=150,
        label="Your name here",
        help_text="You sign in with it.",
        widget=forms.TextInput({"autofocus": True, "autocomplete": "username"}),
    )
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "new-password"}), help_text="At least 8 characters."
    )

    def clean_username(self) -> str:
        name = self.cleaned_data["username"].strip()
        User.username_validator(name)
        if User.objects.filter(username=name).exists():
            raise forms.ValidationError("Somebody here has this name. If it is you, sign in.")
        return name

    def clean_password(self) -> str:
        password = self.cleaned_data["password"]
        password_validation.validate_password(password, User(username=self.data.get("username", "")))
        return password


class FirstAccountForm(AccountForm):
    project = forms.CharField(max_length=80, label="First project", help_text="Usually the product you evaluate.")


ROLES = {
    Role.REVIEWER: "Reviewer: grades what is given to them, sees nothing else",
    Role.VIEWER: "Viewer: reads everything, changes nothing",
    Role.EDITOR: "Editor: makes and runs evaluators, brings data, grades",
    Role.OWNER: "Owner: also connections, people and rules",
}


def _role_field(**more: Any) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        coerce=lambda text: Role(int(text)), choices=[(role.value, said) for role, said in ROLES.items()], **more
    )


class InvitationForm(forms.Form):
    note = forms.CharField(
        max_length=80, required=False, label="For whom", help_text="Only to tell invitations apart, for example: Mara."
    )
    role = _role_field(initial=Role.EDITOR.value)


class RoleForm(forms.Form):
    role = forms.TypedChoiceField(
        coerce=lambda text: Role(int(text)), choices=[(role.value, role.title) for role in ROLES]
    )


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="Usually the product you evaluate.")


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, help_text="What will use it, for example: nightly pipeline.")
    scope = forms.TypedChoiceField(
        coerce=lambda text: Scope(int(text)),
        choices=[(Scope.READ.value, "Read"), (Scope.WRITE.value, "Read and write")],
        initial=Scope.WRITE.value,
        label="It may",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autocomplete"] = "off"
