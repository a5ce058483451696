"""Forms for tokens: of users on the page, of operators in the admin site."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable
from datetime import date, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from drf_mcp.contrib.tokens.models import (
    AgentToken,
    find_end,
    find_last_day,
    find_today,
    validate_networks,
    validate_patterns,
)
from drf_mcp.exposure import Tool


class LinesField(forms.CharField):
    """A list of texts, one on each line."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = (value or "").replace(",", "\n").splitlines()
        return list(dict.fromkeys(filter(None, map(str.strip, lines))))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class AgentTokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """The fields of a token that an operator sets."""

    tools = LinesField(
        label=_("Tools"),
        required=False,
        validators=[validate_patterns],
        help_text=_(
            "One pattern on each line, as in INCLUDE: orders_*, tag:billing, GET /api/*. "
            "Empty for all tools of the user."
        ),
    )
    networks = LinesField(
        label=_("Networks"),
        required=False,
        validators=[validate_networks],
        help_text=_(
            "The addresses that the token is taken from, one on each line: 203.0.113.0/24. "
            "Empty for all. Behind a proxy the server has to put the caller's address into "
            "REMOTE_ADDR."
        ),
    )

    class Meta:
        model = AgentToken
        fields: tuple[str, ...] = ("user", "name", "tools", "read_only", "expires", "networks")

    def clean_expires(self) -> datetime | None:
        expires: datetime | None = self.cleaned_data["expires"]
        if "expires" in self.changed_data and expires and expires <= timezone.now():
            raise ValidationError(_("This is in the past."), "past")
        return expires


class OwnTokenForm(AgentTokenForm):
    """The fields that users set of their own tokens.

    Args:
        tools_of_user: the tools that the user sees.
    """

    read_only = forms.BooleanField(
        label=_("Read-only"),
        required=False,
        initial=True,
        help_text=_("Without it, the agent can change and delete what you can."),
    )
    tags = forms.MultipleChoiceField(
        label=_("Tags"), required=False, widget=forms.CheckboxSelectMultiple
    )
    expires = forms.DateField(
        label=_("Valid until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("The last day. Empty for no end."),
    )

    class Meta(AgentTokenForm.Meta):
        fields = ("name", "tools", "read_only", "expires", "networks")

    field_order = ("name", "expires", "tools", "networks", "tags", "read_only")

    def __init__(self, *args: Any, tools_of_user: Collection[Tool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tools_of_user = tools_of_user
        tags = sorted({tag for tool in tools_of_user for tag in tool.options.tags})
        choices: Any = self.fields["tags"]
        choices.choices = [(tag, tag) for tag in tags]
        self.initial.setdefault("expires", find_last_day())

    def clean_tools(self) -> list[str]:
        patterns: list[str] = self.cleaned_data["tools"]
        for pattern in patterns:
            if not any(tool.matches([pattern]) for tool in self.tools_of_user):
                raise ValidationError(
                    _("None of your tools matches %(pattern)s."), "unknown", {"pattern": pattern}
                )
        return patterns

    def clean_expires(self) -> datetime | None:
        last_day: date | None = self.cleaned_data["expires"]
        if last_day is None:
            return None
        if last_day < find_today():
            raise ValidationError(_("This is in the past."), "past")
        return find_end(last_day)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        tags: Iterable[str] = cleaned.get("tags", ())
        if "tools" in cleaned:
            cleaned["tools"] += [f"tag:{glob.escape(tag)}" for tag in tags]
        return cleaned
