"""Rules that staff edit, and the calls that wait for an approval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from drf_mcp.contrib.rules.expressions import UNKNOWN, Expression, ExpressionError, Unknown
from drf_mcp.contrib.rules.ruling import ALLOW, APPROVE, REFUSE, Ruling
from drf_mcp.contrib.rules.values import MEMBERS, CallValues, ToolNames
from drf_mcp.exceptions import Conflict
from drf_mcp.option_types.kinds import read_pattern
from drf_mcp.tools.registry import registry


class CallRule(models.Model):
    """A rule about the calls of some tools."""

    class Verdict(models.TextChoices):
        ALLOW = ALLOW, _("allow")
        REFUSE = REFUSE, _("refuse")
        APPROVE = APPROVE, _("ask for approval")

    name = models.CharField(_("name"), max_length=100, unique=True)
    order = models.IntegerField(
        _("order"), default=100, help_text=_("The first rule that decides wins.")
    )
    is_active = models.BooleanField(_("active"), default=True)
    tools = models.CharField(
        _("tools"), max_length=200, help_text=_("A pattern such as orders_*, tag:billing or PUT *.")
    )
    condition = models.TextField(
        _("condition"),
        blank=True,
        help_text=_('Such as: amount > 500 and "support" in caller.groups.'),
    )
    verdict = models.CharField(_("verdict"), max_length=8, choices=Verdict.choices)
    reason = models.CharField(
        _("reason"), max_length=300, blank=True, help_text=_("The sentence that the caller reads.")
    )
    approvals = models.PositiveSmallIntegerField(
        _("approvals"), default=1, validators=[MinValueValidator(1), MaxValueValidator(5)]
    )
    group = models.CharField(
        _("group of approvers"), max_length=150, blank=True, help_text=_("Empty for all approvers.")
    )

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        ordering = ["order", "pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def label(self) -> str:
        """What the rule says, in one line."""
        condition = self.condition or _("every call")
        return f"{condition}: {self.Verdict(self.verdict).label}"

    @property
    def patterns(self) -> list[str]:
        return [self.tools]

    def clean(self) -> None:
        """Check the rule against the tools that it is about: their schemas and their models."""
        if self.verdict != ALLOW and not self.reason:
            raise ValidationError({"reason": _("Say why, in a sentence for the caller.")})
        try:
            read_pattern(self.tools)
        except ValueError as exc:
            raise ValidationError({"tools": str(exc)}) from exc
        if not (tools := [t for t in registry.tools().values() if t.matches(self.patterns)]):
            raise ValidationError({"tools": _("No tool matches.")})
        for tool in tools:
            try:
                self.read_condition(ToolNames(tool))
            except ExpressionError as exc:
                raise ValidationError({"condition": f"{tool.name}: {exc}"}) from exc

    def read_condition(self, names: ToolNames) -> Expression:
        """Return the condition, checked: a tool may have changed since the rule was saved."""
        expression = Expression(self.condition.strip() or "true")
        expression.check(names.get_type)
        return expression

    def decide(self, values: CallValues) -> Ruling | None:
        """Return what the rule decides about a call, None for nothing.

        A condition that is unknown holds, unless the rule allows calls.
        """
        holds = self.read_condition(values).evaluate(values.get_value)
        if holds is False or (holds is UNKNOWN and self.verdict == ALLOW):
            return None
        return Ruling(self.verdict, self.reason, self.approvals, self.group)

    def foresee(self, values: CallValues) -> bool | Unknown:
        """Return whether the condition holds for every call of a caller at this time.

        `UNKNOWN` where that depends on arguments or on the object.
        """

        def get_value(path: Any) -> Any:
            return values.get_value(path) if values.locate(path)[0] in MEMBERS else UNKNOWN

        return self.read_condition(values).evaluate(get_value)


# Titles of what a dry run says, by its members.
TITLES: Mapping[str, Any] = {
    "object": _("Object"),
    "preview": _("The view says"),
    "created": _("Added"),
    "updated": _("Changed"),
    "deleted": _("Deleted"),
    "kept": _("Kept, without a reference to it"),
    "changed": _("Changed with it"),
    "bulk_statements": _("Several at once"),
}


class Proposal(models.Model):
    """A call that people approve before it is made, once, as its caller."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        STALE = "stale", _("to be approved anew")
        APPROVED = "approved", _("approved")
        RUNNING = "running", _("being made")
        DONE = "done", _("made")
        FAILED = "failed", _("failed")
        DECLINED = "declined", _("declined")
        WITHDRAWN = "withdrawn", _("withdrawn")
        EXPIRED = "expired", _("expired")
        UNKNOWN = "unknown", _("unknown")

    proposal_id = models.CharField(_("proposal id"), max_length=32, primary_key=True)
    tool = models.CharField(_("tool"), max_length=64)
    title = models.CharField(_("title"), max_length=200)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices)
    rule = models.CharField(_("rule"), max_length=100)
    reason = models.CharField(_("reason"), max_length=300)
    approvals_needed = models.PositiveSmallIntegerField(_("approvals"))
    group = models.CharField(_("group of approvers"), max_length=150, blank=True)
    # The key of the caller, and the keys of the people behind the credential.
    owner = models.CharField(_("owner"), max_length=255)
    people = models.JSONField(_("people behind the call"), default=list)
    tenant = models.CharField(_("tenant"), max_length=200, blank=True)
    user_label = models.CharField(_("user"), max_length=150)
    credential = models.CharField(_("authentication class"), max_length=100, blank=True)
    # What a worker makes the call from, None where the caller has to call again.
    request = models.JSONField(_("request"), null=True)
    arguments = models.JSONField(_("arguments"), default=dict)
    digest = models.CharField(_("hash of the arguments"), max_length=64)
    # What approvers are shown, and what they were shown before the proposal was stale.
    shown = models.JSONField(_("what the call would do"), default=dict)
    shown_before = models.JSONField(_("what was shown before"), null=True)
    fingerprint = models.CharField(_("hash of what the dry run saw"), max_length=64)
    answer = models.JSONField(_("answer"), null=True)
    terms = models.JSONField(_("rights that it is read by"), default=dict)
    message = models.CharField(_("message"), max_length=300, blank=True)
    task_id = models.CharField(_("task id"), max_length=64, blank=True)
    created = models.DateTimeField(_("created"))
    updated = models.DateTimeField(_("updated"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        ordering = ["-created"]
        permissions = [("approve_proposal", _("Can approve and decline proposals"))]
        indexes = [models.Index(fields=["owner", "digest"], name="drf_mcp_proposal_owner")]

    def __str__(self) -> str:
        return f"{self.tool} {self.proposal_id}"

    @property
    def shown_facts(self) -> list[tuple[str, str]]:
        """What the call would do besides the fields of its object, each with a title."""
        shown = ((str(title), self.shown.get(name)) for name, title in TITLES.items())
        return [(title, write_value(value, is_flat=True)) for title, value in shown if value]

    @property
    def differences(self) -> list[Difference]:
        """The fields that the call would change."""
        before, after = (join_fields(self.shown, place) for place in ("before", "after"))
        earlier = join_fields(self.shown_before or {}, "after")
        found = []
        for name in {**after, **earlier}:
            was, becomes = write_value(before.get(name)), write_value(after.get(name))
            shown_before = write_value(earlier.get(name))
            is_same = self.shown_before is None or shown_before == becomes
            found.append(Difference(name, was, becomes, "" if is_same else shown_before))
        return found

    @property
    def shown_arguments(self) -> list[tuple[str, str]]:
        return [(name, write_value(value)) for name, value in self.arguments.items()]

    @property
    def given(self) -> models.QuerySet[Approval]:
        """The approvals of the call as it is shown now."""
        return self.approvals.filter(fingerprint=self.fingerprint)

    @property
    def conflict(self) -> Conflict:
        """What is raised where the proposal is decided already."""
        text = gettext("The call is %(status)s already.")
        return Conflict(text % {"status": self.get_status_display()})


class Difference(NamedTuple):
    """A field that a call would change.

    Attributes:
        name: the name of the field.
        before: its value now.
        after: its value after the call.
        shown_before: its value after the call as approvers were shown it first, "" for the same.
    """

    name: str
    before: str
    after: str
    shown_before: str


def join_fields(shown: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """Return the fields of an object before or after a call; with keys where there are several."""
    if "objects" not in shown:
        return dict(shown.get(place, {}))
    return {
        f"{each['object']}: {name}": value
        for each in shown["objects"]
        for name, value in each[place].items()
    }


def write_value(value: Any, is_flat: bool = False) -> str:
    """Return a value as people read it: a text as it is, null as a hyphen, the rest as JSON.

    Args:
        is_flat: whether the members of an object or array are written one after the other.
    """
    if is_flat and isinstance(value, Mapping):
        return ", ".join(f"{name}: {write_value(each)}" for name, each in value.items())
    if is_flat and isinstance(value, list):
        return ", ".join(map(write_value, value))
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Approval(models.Model):
    """The approval of a proposal by one person, as the proposal was shown to that person."""

    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="approvals")
    person = models.CharField(_("person"), max_length=255)
    label = models.CharField(_("user"), max_length=150)
    fingerprint = models.CharField(_("hash of what the dry run saw"), max_length=64)
    created = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "person", "fingerprint"], name="drf_mcp_one_approval"
            )
        ]

    def __str__(self) -> str:
        return self.label
