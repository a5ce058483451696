"""Rules that staff edit, and the calls that wait for an approval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from drf_mcp.contrib.rules.expressions import (
    UNKNOWN,
    Expression,
    ExpressionError,
    Path,
    Unknown,
)
from drf_mcp.contrib.rules.ruling import ALLOW, APPROVE, REFUSE, Ruling
from drf_mcp.contrib.rules.values import CallValues, ToolNames
from drf_mcp.option_types.patterns import read_pattern
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

    def clean(self) -> None:
        """Check the rule against the tools that it is about: their schemas and their models."""
        if self.verdict != ALLOW and not self.reason:
            raise ValidationError({"reason": _("Say why, in a sentence for the caller.")})
        try:
            read_pattern(self.tools)
        except ValueError as exc:
            raise ValidationError({"tools": str(exc)}) from exc
        if not (tools := [tool for tool in registry.tools().values() if self.matches(tool)]):
            raise ValidationError({"tools": _("No tool matches.")})
        for tool in tools:
            if fault := self.find_fault(tool):
                raise ValidationError({"condition": f"{tool.name}: {fault}"})

    def find_fault(self, tool: Any) -> str:
        """Return why the condition does not fit a tool, "" if it does."""
        try:
            if self.condition.strip():
                Expression(self.condition).check(ToolNames(tool).get_type)
        except ExpressionError as exc:
            return str(exc)
        return ""

    def matches(self, tool: Any) -> bool:
        """Return whether the rule is about a tool."""
        return bool(tool.matches([self.tools]))

    def decide(self, values: CallValues) -> Ruling | None:
        """Return what the rule decides about a call, None for nothing.

        What is unknown counts against the call.
        """
        holds = self.holds(values)
        if holds is False or (holds is UNKNOWN and self.verdict == ALLOW):
            return None
        return Ruling(self.verdict, self.reason, self.approvals, self.group)

    def foresee(self, values: CallValues) -> Any:
        """Return whether the condition holds of all calls of a caller, at this time."""
        return self.holds(values, lambda path: values.names.is_of_caller(path))

    def holds(
        self, values: CallValues, is_known: Callable[[Path], bool] = lambda path: True
    ) -> bool | Unknown:
        """Return whether the condition holds of a call, `UNKNOWN` where that cannot be said."""
        if not self.condition.strip():
            return True
        expression = Expression(self.condition)
        # A tool may have changed since the rule was saved.
        expression.check(values.names.get_type)
        return expression.evaluate(lambda p: values.get_value(p) if is_known(p) else UNKNOWN)
