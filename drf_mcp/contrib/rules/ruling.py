"""Rules in Python, what a rule decides, and which of all rules decides about a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import router
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from drf_mcp.archives import can_be_asked, get_named_object
from drf_mcp.contrib.rules.conditions import UNREADABLE, RequestArguments
from drf_mcp.errors import ArgumentsRefused, CallCrashed
from drf_mcp.exceptions import catch
from drf_mcp.exposure import registry
from drf_mcp.features import Call, CallState
from drf_mcp.option_types.kinds import read_pattern
from drf_mcp.outcomes import Outcome, Problem

ALLOW, REFUSE, APPROVE = "allow", "refuse", "approve"
RULES: list[PythonRule] = []


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

    @property
    def strictness(self) -> tuple[int, int]:
        """The key by which rulings are compared: a refusal is the strictest."""
        return {ALLOW: 0, REFUSE: 2}.get(self.verdict, 1), self.approvals

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


# --- One request of a call -----------------------------------------------------------------------


class ViewRefused(Exception):
    """The view refuses the caller, or the caller the object that a rule reads.

    Args:
        outcome: what it answers.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class RuledRequest:
    """One request of a call, as rules judge it.

    Args:
        call: the state of the request.
        view: the view of a request of plain HTTP, None for a call.
    """

    def __init__(self, call: CallState, view: Any = None) -> None:
        self.call = call
        self.view = view

    @cached_property
    def arguments(self) -> RequestArguments:
        return RequestArguments(self.call.tool, self.call.bound.arguments)

    @cached_property
    def object(self) -> Any:
        """The object of the request, as the view finds it for the caller; no handler runs.

        Raises:
            ViewRefused: if the view refuses the caller.
        """
        if self.view is not None:
            return get_named_object(self.view)
        if not can_be_asked(self.call.tool.endpoint):
            raise TypeError(f"A decorator around the view of {self.call.tool.name} hides it.")
        look = lambda view, *args, **kwargs: get_named_object(view)  # noqa: E731
        found = self.call.dispatcher.ask_view(self.call, look)
        if isinstance(found, Outcome):
            raise ViewRefused(found)
        return found

    def make_rule_call(self) -> RuleCall:
        return LazyRuleCall(self)


class RuleCall:
    """A call as a rule in Python gets it.

    Args:
        tool: the name of the tool.
        arguments: the arguments as the view's serializer reads them; numbers are decimals.
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


class LazyRuleCall(RuleCall):
    # The view is asked for the object when a rule reads it.

    def __init__(self, request: RuledRequest) -> None:
        known = request.call.caller.authenticate()
        arguments = ReadArguments(request.arguments.read_all())
        super().__init__(request.call.tool.name, arguments, known.user, known.auth)
        self.request = request

    @cached_property
    def object(self) -> Any:
        return self.request.object


class ArgumentUnreadable(Exception):
    """A rule reads an argument that the view's serializer refuses."""


class ReadArguments(dict[str, Any]):
    """The arguments of a request; reading one that the serializer refuses raises an exception."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value is UNREADABLE:
            raise ArgumentUnreadable(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - a dict's own get() reads all


# --- Rules in Python -----------------------------------------------------------------------------

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

    # Only a call shows what a function decides.
    decides_always = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def label(self) -> str:
        """What the rule says, in one line."""
        about = (self.function.__doc__ or "").strip().partition("\n")[0]
        return about or f"{self.function.__module__}.{self.name}"

    def decide(self, request: RuledRequest) -> Ruling | None:
        """Return what the rule decides about a request, None for nothing."""
        ruling = self.function(request.make_rule_call())
        if ruling is not None and not isinstance(ruling, Ruling):
            raise TypeError(f"The rule {self.name} has to return a Ruling or None.")
        return ruling


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


# --- The rule that decides -----------------------------------------------------------------------


def find_rules(tool: Any = None, *, only_active: bool = True) -> list[Any]:
    """Return the active rules about a tool in their order, those about any tool by default."""
    model: Any = apps.get_model("drf_mcp_rules.CallRule")
    # Rules are read for each call: a tenant may have tables of its own.
    rows = model._default_manager.using(router.db_for_read(model))
    rows = rows.filter(is_active=True) if only_active else rows
    # Among rules of the same order, rules in Python come first.
    every = sorted([*RULES, *rows], key=attrgetter("order"))
    return [each for each in every if tool is None or tool.matches(each.patterns)]


def refuses_always(tool: Any) -> bool:
    """Return whether the rules let no call of a tool pass, whatever its arguments."""
    first = next(iter(find_rules(tool)), None)
    return first is not None and first.decides_always and first.effect != ALLOW


class Decision(NamedTuple):
    """What the rules decide about a request.

    Attributes:
        rule: the rule that decided, None where no rule did.
        ruling: what it decided.
        place: the place of the request among all requests of its call.
    """

    rule: Any = None
    ruling: Ruling = Ruling.allow()
    place: int = 0


def decide(rules: Iterable[Any], request: RuledRequest, place: int = 0) -> Decision:
    """Return the decision of the first rule that decides about a request.

    Raises:
        ViewRefused: if the view refuses the caller, and a rule reads the object.
        ArgumentsRefused: if a rule in Python reads an argument that the view would refuse.
        CallCrashed: if a rule fails; the call is not made then.
    """
    with catch() as caught:
        for rule in rules:
            if (ruling := rule.decide(request)) is not None:
                return Decision(rule, ruling, place)
        return Decision()
    exc = caught.exception
    if isinstance(exc, ViewRefused):
        raise exc
    if isinstance(exc, ArgumentUnreadable):
        raise ArgumentsRefused([make_problem(request, str(exc))]) from exc
    raise CallCrashed(exc) from exc


def make_problem(request: RuledRequest, name: str) -> Problem:
    """Return what the serializer says of an argument that it refuses."""
    arguments = request.arguments
    pointer, code, said = arguments.arguments[name].pointer, "unreadable", "A rule cannot read it."
    try:
        arguments.find(name).field.run_validation(arguments.sent[name])
    except serializers.ValidationError as exc:
        detail: Any = exc.detail
        first = detail[0] if isinstance(detail, list) else detail
        code, said = getattr(first, "code", code), str(first)
    return Problem(code, said, pointer=pointer)


def decide_call(rules: Iterable[Any], call: CallState) -> Decision:
    """Return the strictest decision about the requests of a call; raises as `decide` does."""
    requests = [RuledRequest(call.of_item(each)) for each in call.bound.requests]
    return decide_requests(list(rules), requests)


def decide_requests(rules: Sequence[Any], requests: Iterable[RuledRequest]) -> Decision:
    """Return the strictest decision about the requests of a call; raises as `decide` does."""
    decisions = [decide(rules, each, place) for place, each in enumerate(requests)]
    strictest = max(decisions, key=lambda each: each.ruling.strictness, default=Decision())
    if strictest.ruling.verdict != APPROVE:
        return strictest
    groups = {each.ruling.group for each in decisions if each.ruling.group}
    if len(groups) > 1:
        reason = "Different groups approve the objects of the call: make a call for each."
        return strictest._replace(ruling=Ruling.refuse(reason))
    return strictest._replace(ruling=replace(strictest.ruling, group="".join(groups)))


# --- Plain HTTP -------------------------------------------------------------------------------


class FollowsRules(BasePermission):
    """Lets a request of plain HTTP pass the rules about the tool of its path and method.

    A call that has to be approved is refused: plain HTTP has no proposals. Requests of agents pass,
    since a guard asks the rules for them.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise PermissionDenied with the sentence of the rule that refuses."""
        if getattr(request._request, "is_mcp_request", False):
            return True
        tool = registry.get_tool(str(request.method), request.path_info)
        if tool is None or not (rules := find_rules(tool)):
            return True
        caller: Any = SimpleNamespace(request=request, authenticate=lambda: request)
        call = CallState(tool, None, caller)
        sent = tool.arguments.from_request(view.kwargs, request.query_params, request.data)
        call.bound = Call(sent)
        try:
            ruling = decide(rules, RuledRequest(call, view)).ruling
        except ArgumentsRefused as exc:
            said = {each.pointer[1:]: [each.message] for each in exc.problems}
            raise serializers.ValidationError(said) from exc
        except CallCrashed as exc:
            raise exc.cause from exc
        if ruling.verdict == APPROVE:
            reason = "It has to be approved, which only calls of agents can be."
            raise PermissionDenied(f"{ruling.reason} {reason}")
        if ruling.verdict != ALLOW:
            raise PermissionDenied(ruling.reason)
        return True
