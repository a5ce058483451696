"""Rules in Python, and what a rule decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _

from drf_mcp.contrib.rules.expressions import UNKNOWN
from drf_mcp.contrib.rules.values import CallValues
from drf_mcp.option_types.patterns import read_pattern

ALLOW, REFUSE, APPROVE = "allow", "refuse", "approve"


@dataclass(frozen=True)
class Ruling:
    """What a rule decides about a call.

    Attributes:
        verdict: ``"allow"``, ``"refuse"`` or ``"approve"``.
        reason: the sentence that the caller reads.
        approvals: how many people have to approve.
        group: the group whose members approve, "" for everybody with the permission.
    """

    verdict: str
    reason: str = ""
    approvals: int = 1
    group: str = ""

    @classmethod
    def allow(cls) -> Ruling:
        """Return the ruling that lets a call pass the rules after this one."""
        return cls(ALLOW)

    @classmethod
    def refuse(cls, reason: str) -> Ruling:
        """Return the ruling that refuses a call with a sentence."""
        return cls(REFUSE, reason)

    @classmethod
    def ask(cls, reason: str, approvals: int = 1, group: str = "") -> Ruling:
        """Return the ruling that has people approve a call first."""
        return cls(APPROVE, reason, approvals, group)


class ArgumentUnreadable(Exception):
    """A rule asks for an argument that the view cannot read."""


class ReadArguments(dict[str, Any]):
    """The arguments of a call as the view's serializer reads them."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value is UNKNOWN:
            raise ArgumentUnreadable(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        found = name in self
        return self[name] if found else default


class RuleCall:
    """A call as a rule in Python gets it.

    Args:
        tool: the name of the tool.
        arguments: those that were sent, as the view's serializer reads them; numbers are decimals.
        user: who calls.
        auth: the credential, as `request.auth` of REST framework.
        object: what the call is about, None for no object.
    """

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        user: Any = None,
        auth: Any = None,
        object: Any = None,
    ) -> None:
        self.tool, self.arguments = tool, arguments
        self.user, self.auth = user, auth
        if object is not None:
            self.object = object


class CallOfValues(RuleCall):
    def __init__(self, values: CallValues) -> None:
        self.values = values
        call, known = values.call, values.call.caller.authenticate()
        names = [name for name in call.bound.arguments if name in values.names.arguments]
        read = ReadArguments({name: values.get_argument((name,)) for name in names})
        super().__init__(call.tool.name, read, known.user, known.auth)

    @cached_property
    def object(self) -> Any:
        # A view is asked only where a rule reads the object.
        return self.values.object


Decide: TypeAlias = Callable[[RuleCall], Ruling | None]


@dataclass(frozen=True)
class PythonRule:
    """A rule in Python.

    Attributes:
        patterns: the tools that it is about, as in INCLUDE.
        function: decides, or returns None.
        order: its place among all rules.
    """

    patterns: tuple[str, ...]
    function: Decide
    order: int

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def label(self) -> str:
        """What the rule says, in one line."""
        about = (self.function.__doc__ or "").strip().partition("\n")[0]
        return about or f"{self.function.__module__}.{self.name}"

    def matches(self, tool: Any) -> bool:
        """Return whether the rule is about a tool."""
        return bool(tool.matches(self.patterns))

    def decide(self, values: CallValues) -> Ruling | None:
        """Return what the rule decides about a call, None for nothing."""
        try:
            ruling = self.function(CallOfValues(values))
        except ArgumentUnreadable as exc:
            # The dry run before an approval says what is wrong, as the view says it.
            return Ruling.ask(_("%s cannot be read.") % exc)
        if ruling is not None and not isinstance(ruling, Ruling):
            raise TypeError(f"The rule {self.name} has to return a Ruling or None.")
        return ruling

    def foresee(self, values: CallValues) -> Any:
        """Return whether the rule is about all calls of a caller: `UNKNOWN` before a call."""
        return UNKNOWN


RULES: list[PythonRule] = []


def rule(*patterns: str, order: int = 100) -> Callable[[Decide], Decide]:
    """Make a function a rule about the calls of tools.

    Args:
        patterns: the tools, as in INCLUDE.
        order: its place among all rules: the lowest comes first.

    Raises:
        ImproperlyConfigured: on a pattern that could never match.
    """
    for pattern in patterns:
        try:
            read_pattern(pattern)
        except ValueError as exc:
            raise ImproperlyConfigured(f"@rule names {pattern!r}: {exc}.") from exc

    def add(function: Decide) -> Decide:
        RULES.append(PythonRule(patterns, function, order))
        return function

    return add
