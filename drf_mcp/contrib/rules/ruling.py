"""Rules in Python, what a rule decides, and which of all rules decides about a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import router
from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from drf_mcp.contrib.rules.expressions import UNKNOWN
from drf_mcp.contrib.rules.values import CallValues, ViewRefused, noting_refused_item
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.dispatch.guards import CallCrashed
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.dispatch.stored_answers import StoredAnswer
from drf_mcp.exceptions import catch
from drf_mcp.features import CallState
from drf_mcp.option_types.kinds import read_pattern
from drf_mcp.tools.arguments.call import Call
from drf_mcp.tools.registry import registry

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


# --- Rules in Python -----------------------------------------------------------------------------


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


class LazyRuleCall(RuleCall):
    # The view is asked for the object when a rule reads it.

    def __init__(self, values: CallValues) -> None:
        known = values.call.caller.authenticate()
        read = ReadArguments({name: values.get_argument((name,)) for name in values.sent})
        super().__init__(values.tool.name, read, known.user, known.auth)
        self.values = values

    @cached_property
    def object(self) -> Any:
        return self.values.object


class ArgumentUnreadable(Exception):
    """A rule asks for an argument that the view's serializer refuses."""


class ReadArguments(dict[str, Any]):
    """The arguments of a call as the view's serializer reads them.

    Raises:
        ArgumentUnreadable: where a rule asks for an argument that the serializer refuses.
    """

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if value is UNKNOWN:
            raise ArgumentUnreadable(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        is_sent = name in self
        return self[name] if is_sent else default


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

    def decide(self, values: CallValues) -> Ruling | None:
        """Return what the rule decides about a call, None for nothing."""
        try:
            ruling = self.function(LazyRuleCall(values))
        except ArgumentUnreadable as exc:
            # An approval begins with a dry run, whose view says what is wrong with the argument.
            return Ruling.ask(_("%s cannot be read.") % exc)
        if ruling is not None and not isinstance(ruling, Ruling):
            raise TypeError(f"The rule {self.name} has to return a Ruling or None.")
        return ruling

    def foresee(self, values: CallValues) -> Any:
        """Return `UNKNOWN`: only a call shows what the function decides."""
        return UNKNOWN


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


def find_rules(tool: Any = None) -> list[Any]:
    """Return the active rules about a tool in their order, those about any tool by default."""
    model: Any = apps.get_model("drf_mcp_rules.CallRule")
    # Rules are read for each call: a tenant may have tables of its own.
    rows = model._default_manager.using(router.db_for_read(model)).filter(is_active=True)
    # Among rules of the same order, rules in Python come first.
    every = sorted([*RULES, *rows], key=attrgetter("order"))
    return [each for each in every if tool is None or tool.matches(each.patterns)]


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


def decide(rules: Iterable[Any], values: CallValues, place: int = 0) -> Decision:
    """Return the decision of the first rule that decides about a request.

    Raises:
        ViewRefused: if the view does not let the caller have the object.
        CallCrashed: if a rule fails; the call is not made then.
    """
    with catch() as caught:
        for rule in rules:
            if (ruling := rule.decide(values)) is not None:
                return Decision(rule, ruling, place)
        return Decision()
    exc = caught.exception
    if isinstance(exc, ViewRefused):
        raise exc
    raise CallCrashed(exc) from exc


def decide_call(rules: Iterable[Any], call: CallState) -> Decision:
    """Return the strictest decision about the requests that a call makes.

    Raises:
        ViewRefused: as `decide`.
        CallCrashed: as `decide`.
    """
    rules, decisions = list(rules), []
    for place, each in enumerate(call.bound.requests):
        with noting_refused_item(call, place):
            decisions.append(decide(rules, CallValues(call.of_item(each)), place))
    strictest = max(decisions, key=lambda each: each.ruling.strictness, default=Decision())
    ruling = strictest.ruling
    if ruling.verdict == APPROVE:
        groups = {each.ruling.group for each in decisions if each.ruling.group}
        ruling = replace(ruling, group=next(iter(groups), ""))
        if len(groups) > 1:
            reason = _("Different groups approve the objects of the call: make a call for each.")
            ruling = Ruling.refuse(reason)
    return strictest._replace(ruling=ruling)


def refuses_kept(answer: StoredAnswer) -> bool:
    """Return whether the rules refuse by now the call whose answer is kept.

    The body of a call is not kept, so a call with a body is judged by those rules that hold for
    every call of its caller.

    Raises:
        CallCrashed: as `decide`.
    """
    tool, rules = answer.tool, find_rules(answer.tool)
    call = CallState(tool, {}, answer.caller)
    if tool.endpoint.method not in SAFE_METHODS:
        values = CallValues(call)
        foreseen = ((each, each.foresee(values)) for each in rules)
        first, holds = next((pair for pair in foreseen if pair[1] is not False), (None, UNKNOWN))
        return holds is not UNKNOWN and getattr(first, "verdict", ALLOW) != ALLOW
    query = QueryDict(answer.call.query_string)
    sent = tool.arguments.from_request(answer.kwargs, query)
    call.bound = replace(answer.call, arguments=sent, many=answer.many)
    call.dispatcher = Dispatcher()
    try:
        return decide_call(rules, call).ruling.verdict != ALLOW
    except ViewRefused:
        return True


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
        values = CallValues(call, find_object=lambda: get_named_object(view))
        try:
            ruling = decide(rules, values).ruling
        except CallCrashed as exc:
            raise exc.cause from exc
        if ruling.verdict == APPROVE:
            reason = _("It has to be approved, which only calls of agents can be.")
            raise PermissionDenied(f"{ruling.reason} {reason}")
        if ruling.verdict != ALLOW:
            raise PermissionDenied(ruling.reason)
        return True
