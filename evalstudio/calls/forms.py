"""Forms of connections, for the page and for whoever else makes or changes one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core import signing
from django.db import transaction

from evalstudio.calls.guard import AddressRefused, guard_for_connections
from evalstudio.calls.models import Connection, ModelTraits
from evalstudio.projects.models import AuditEntry, Project

OPENAI_URL = "https://api.openai.com/v1"
ENDINGS = ("/chat/completions", "/completions", "/models", "/")
FOUND_SALT = "connection-test"


def default_base_url() -> str:
    return (settings.OPENAI_BASE_URL or OPENAI_URL).rstrip("/")


class _ProjectForm(forms.ModelForm):
    """A connection's form; its name is taken once in the project."""

    instance: Connection

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        same = Connection.objects.filter(project=self.instance.project, name=name).exclude(pk=self.instance.pk).first()
        if same is not None:
            where = "an archived connection" if same.is_archived else "another connection"
            raise forms.ValidationError(f"{name} is the name of {where} here. Choose one that sets this apart.")
        return name

    @transaction.atomic
    def save_for(self, actor: Any) -> Connection:
        """Save the valid form and note who did it."""
        act = "changed connection" if self.instance.pk else "added connection"
        connection: Connection = self.save()
        AuditEntry.note(connection.project, actor, act, connection.name)
        return connection


class RehearsalForm(_ProjectForm):
    """What may be changed about the rehearsal."""

    max_in_flight = forms.IntegerField(min_value=1, max_value=1000, label="Calls at once")

    class Meta:
        model = Connection
        fields = ("name", "max_in_flight")


class ConnectionForm(_ProjectForm):
    """An OpenAI-compatible endpoint.

    The key is write-only: an empty field keeps the stored one, which is never sent to another address than it was typed
    for. `found` is what a test of the same address and model found, signed, so that saving remembers it.
    """

    key = forms.CharField(required=False, max_length=1000, label="API key", widget=forms.PasswordInput())
    forget_key = forms.BooleanField(required=False, label="Forget the stored key")
    max_in_flight = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=16,
        label="Calls at once",
        help_text="Open at the same time, over all workers.",
    )
    requests_per_minute = forms.IntegerField(
        min_value=1, max_value=1_000_000, required=False, label="Requests per minute", help_text="Empty: no limit."
    )
    usd_per_million_in = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=4, required=False, label="Price of input"
    )
    usd_per_million_out = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=4, required=False, label="Price of output"
    )
    found = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Connection
        fields = (
            "name", "base_url", "model", "max_in_flight", "requests_per_minute", "usd_per_million_in",
            "usd_per_million_out",
        )  # fmt: skip
        labels = {"base_url": "Base URL", "model": "Default model"}
        help_texts = {"base_url": "Usually ends in /v1.", "model": "As the endpoint spells it."}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self.former_url = self.instance.base_url
        self.stored_key = self.instance.key_encrypted
        if not self.stored_key:
            del self.fields["forget_key"]
        if not self.instance.pk:
            self.initial.setdefault("base_url", default_base_url())
        self.fields["base_url"].widget.attrs |= {"inputmode": "url", "spellcheck": "false"}
        self.fields["model"].widget.attrs |= {"list": "models", "autocomplete": "off", "spellcheck": "false"}
        self.fields["key"].widget.attrs |= {"autocomplete": "new-password", "spellcheck": "false"}
        self.fields["key"].help_text = self._key_help()

    @property
    def is_where_it_was(self) -> bool:
        """The connection is saved and its address stays the same."""
        return bool(self.instance.pk) and self.former_url == self.instance.base_url

    def clean_base_url(self) -> str:
        """The address without what belongs to single requests, as far as the guard lets it pass unresolved."""
        url = self.cleaned_data["base_url"].strip()
        while ending := next((ending for ending in ENDINGS if url.endswith(ending)), None):
            url = url.removesuffix(ending)
        try:
            guard_for_connections().check_url(url)
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from None
        return url

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self._check_prices(cleaned)
        self._check_key(cleaned)
        if cleaned.get("forget_key"):
            self.instance.key = ""
        elif cleaned.get("key"):
            self.instance.key = cleaned["key"]
        return cleaned

    def save_for(self, actor: Any) -> Connection:
        if self.instance.pk and not self.is_where_it_was:
            self.instance.forget_endpoint()
        connection = super().save_for(actor)
        if found := read_found(self.cleaned_data["found"], connection):
            ModelTraits.remember(connection.pk, connection.model, found)
        return connection

    def _key_help(self) -> str:
        if self.stored_key:
            return "A key is stored. Leave this empty to keep it."
        if settings.OPENAI_API_KEY and not self.instance.pk:
            return f"Empty: the key from OPENAI_API_KEY, if the base URL stays {default_base_url()}."
        return "Stored encrypted and never shown again. Local servers often need none."

    def _check_key(self, cleaned: dict[str, Any]) -> None:
        url = cleaned.get("base_url", "")
        if cleaned.get("key") or cleaned.get("forget_key") or not url:
            return
        if self.stored_key and _origin(url) != _origin(self.former_url):
            self.add_error(
                "key", "The address is another one now. Type its key, so that the stored key stays with its own."
            )
        elif not self.instance.pk and url == default_base_url():
            cleaned["key"] = settings.OPENAI_API_KEY

    def _check_prices(self, cleaned: dict[str, Any]) -> None:
        names = ("usd_per_million_in", "usd_per_million_out")
        missing = [name for name in names if cleaned.get(name) is None and name not in self.errors]
        if len(missing) == 1:
            self.add_error(missing[0], "A cost needs both prices. Fill in this one too, or clear the other.")


def sign_found(connection: Connection, found: dict[str, Any]) -> str:
    """What a test found about this address and model, to travel through the page into the form's `found`."""
    return signing.dumps([connection.base_url, connection.model, found], salt=FOUND_SALT)


def read_found(text: str, connection: Connection) -> dict[str, Any] | None:
    """What `sign_found` was given, when it was for this address and model."""
    try:
        base_url, model, found = signing.loads(text, salt=FOUND_SALT, max_age=86400)
    except (signing.BadSignature, ValueError):
        return None
    return found if (base_url, model) == (connection.base_url, connection.model) else None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
