"""Rules that staff edit, and the calls that wait for an approval."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from drf_mcp.contrib.rules import conditions
from drf_mcp.contrib.rules.conditions import ToolPlaces
from drf_mcp.contrib.rules.ruling import ALLOW, APPROVE, REFUSE, RuledRequest, Ruling
from drf_mcp.errors import ask_nearest, find_nearest
from drf_mcp.exceptions import Conflict
from drf_mcp.exposure import registry
from drf_mcp.option_types.kinds import read_pattern


class CallRule(models.Model):
    """A rule about the calls of some tools: what happens if an argument has a value."""

    class Effect(models.TextChoices):
        ALLOW = ALLOW, _("allow")
        REFUSE = REFUSE, _("refuse")
        APPROVE = APPROVE, _("ask for approval")

    class Operator(models.TextChoices):
        IS = conditions.IS, _("is")
        IS_NOT = conditions.IS_NOT, _("is not")
        IN = conditions.IN, _("is one of")
        NOT_IN = conditions.NOT_IN, _("is none of")
        GREATER = conditions.GREATER, _("is greater than")
        AT_LEAST = conditions.AT_LEAST, _("is at least")
        LESS = conditions.LESS, _("is less than")
        AT_MOST = conditions.AT_MOST, _("is at most")
        CONTAINS = conditions.CONTAINS, _("contains")
        PRESENT = conditions.PRESENT, _("is sent")
        ABSENT = conditions.ABSENT, _("is missing")

    name = models.CharField(_("name"), max_length=100, unique=True)
    order = models.IntegerField(
        _("order"), default=100, help_text=_("The first rule that decides wins.")
    )
    is_active = models.BooleanField(_("active"), default=True)
    tool = models.CharField(
        _("tool"),
        max_length=200,
        help_text=_("A tool, or a pattern such as orders_*, tag:billing or PUT *."),
    )
    argument = models.CharField(
        _("argument"),
        max_length=200,
        blank=True,
        help_text=_("Such as amount or address.city; empty for every call."),
    )
    operator = models.CharField(_("operator"), max_length=10, choices=Operator.choices, blank=True)
    value = models.TextField(
        _("value"), max_length=2000, blank=True, help_text=_("Of several values one in each line.")
    )
    effect = models.CharField(_("effect"), max_length=8, choices=Effect.choices)
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
    def condition(self) -> str:
        """What has to hold, in one line."""
        if not self.argument:
            return gettext("every call")
        words = [self.argument, str(self.Operator(self.operator).label)]
        return " ".join([*words, ", ".join(self.value.splitlines())]).strip()

    @property
    def label(self) -> str:
        """What the rule says, in one line."""
        return f"{self.condition}: {self.Effect(self.effect).label}"

    @property
    def patterns(self) -> list[str]:
        return [self.tool]

    @property
    def decides_always(self) -> bool:
        return not self.argument

    def clean(self) -> None:
        """Check the rule against each tool that it is about."""
        if self.effect != ALLOW and not self.reason:
            raise ValidationError({"reason": _("Say why, in a sentence for the caller.")})
        is_compared = self.operator and self.operator not in (conditions.PRESENT, conditions.ABSENT)
        if self.argument and not self.operator:
            raise ValidationError({"operator": _("Say how the argument is compared.")})
        if self.operator and not self.argument:
            raise ValidationError({"argument": _("Say which argument is compared.")})
        if bool(self.value.strip()) != bool(is_compared):
            text = _("Say a value.") if is_compared else _("The operator takes no value.")
            raise ValidationError({"value": text})
        faults = self.find_faults()
        if faults:
            raise ValidationError(faults)

    def find_faults(self) -> dict[str, str]:
        """Return what does not fit the tools as they are today, by field."""
        every = registry.tools()
        try:
            read_pattern(self.tool)
        except ValueError as exc:
            return {"tool": str(exc)}
        if not (tools := [each for each in every.values() if each.matches(self.patterns)]):
            said = gettext("There is no tool %s.") % self.tool
            return {"tool": f"{said} {ask_nearest(find_nearest(self.tool, every))}".strip()}
        for tool in tools if self.argument else ():
            field = "argument"
            try:
                place = ToolPlaces(tool).find(self.argument)
                field = "operator"
                place.require_operator(self.operator)
                field = "value"
                place.read_rule(self.operator, self.value)
            except ValueError as exc:
                return {field: f"{tool.name}: {exc}"}
        return {}

    def decide(self, request: RuledRequest) -> Ruling | None:
        """Return what the rule decides about a request, None for nothing.

        If the argument is missing or cannot be read, the safe side wins: the rule decides, unless
        it allows calls.
        """
        holds: bool | None = True
        if self.argument:
            # The tool may have changed since the rule was saved: then this raises an exception.
            holds = request.arguments.holds(self.argument, self.operator, self.value)
        if holds is False or (holds is None and self.effect == ALLOW):
            return None
        return Ruling(self.effect, self.reason, self.approvals, self.group)


class Proposal(models.Model):
    """A call that people approve before it is made, once, as its caller."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        APPROVED = "approved", _("approved")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
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
    # The keys of the caller, of the credential, and of the people who own it.
    owner = models.CharField(_("owner"), max_length=255)
    holder = models.CharField(_("holder"), max_length=64)
    credential_key = models.CharField(_("hash of the credential"), max_length=64)
    people = models.JSONField(_("people behind the call"), default=list)
    tenant = models.CharField(_("tenant"), max_length=200, blank=True)
    user_label = models.CharField(_("user"), max_length=150)
    credential = models.CharField(_("authentication class"), max_length=100, blank=True)
    # What a worker makes the call from, None where the caller has to call again.
    request = models.JSONField(_("request"), null=True)
    arguments = models.JSONField(_("arguments"), default=dict)
    digest = models.CharField(_("hash of the arguments"), max_length=64)
    # What the path and query of each request of the call name, and their rows.
    named_objects = models.JSONField(_("objects"), default=list)
    fingerprint = models.CharField(_("hash of the arguments and the objects"), max_length=64)
    answer = models.JSONField(_("answer"), null=True)
    terms = models.JSONField(_("rights that it is read by"), default=dict)
    message = models.CharField(_("message"), max_length=300, blank=True)
    link = models.CharField(_("page"), max_length=500, blank=True)
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
    def shown_arguments(self) -> list[tuple[str, str]]:
        return [
            (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in self.arguments.items()
        ]

    @property
    def conflict(self) -> Conflict:
        """What is raised where the proposal is decided already."""
        text = gettext("The call is %(status)s already.")
        return Conflict(text % {"status": self.get_status_display()})


class Approval(models.Model):
    """The approval of a proposal by one person; it counts while that person may approve."""

    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="approvals")
    user: Any = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        constraints = [
            models.UniqueConstraint(fields=["proposal", "user"], name="drf_mcp_one_approval")
        ]

    def __str__(self) -> str:
        return str(self.user)
