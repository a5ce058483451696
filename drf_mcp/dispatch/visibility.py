"""Which tools a caller sees: those that the views' own permissions would let run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, islice
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from rest_framework import permissions
from rest_framework.permissions import SAFE_METHODS, AllowAny, DjangoModelPermissions
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller
from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.access.visibility_cache import (
    CachedVisibility,
    Identity,
    find_identity,
    is_kept,
    visibility_cache,
)
from drf_mcp.dispatch.probe import Identities, Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.option_types.spelling import find_nearest

# Of the tools that a wrong name is like, so many are asked, and so many are named.
MOST_ASKED, MOST_NAMED = 8, 3
# Sets of tools of one audience: of as many kinds of callers.
MOST_PICKED = 64

permission_steps = attrgetter("get_permissions", "check_permissions")
find_steps = attrgetter(
    "get_permissions", "check_permissions", "permission_denied", "get_authenticators"
)
STOCK_STEPS = find_steps(APIView)
# In the place of a view's authentication classes.
BY_ENDPOINT = ("endpoint",)
# What REST framework's own permission classes look at: nothing, the user and the method, or the
# model of the view's queryset as well.
OPEN, USER, MODEL = range(3)
STOCK: Mapping[type, int] = {
    permissions.BasePermission: OPEN,
    permissions.AllowAny: OPEN,
    permissions.IsAuthenticated: USER,
    permissions.IsAdminUser: USER,
    permissions.IsAuthenticatedOrReadOnly: USER,
    permissions.DjangoModelPermissions: MODEL,
    permissions.DjangoModelPermissionsOrAnonReadOnly: MODEL,
    permissions.DjangoObjectPermissions: MODEL,
}
# A class that has one of these asks something of its own.
OWN_STEPS = frozenset({"has_permission", "get_required_permissions", "_queryset"}) | {
    "__init__",
    "__new__",
    "__getattr__",
    "__getattribute__",
}
DATA = ("perms_map", "authenticated_users_only")
OPERANDS = ("op1_class", "op2_class", "op1", "op2")


# --- What decides who sees a tool ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AccessQuestion:
    """What a view asks of a caller before it looks at a row: tools that share it have one answer.

    Attributes:
        authentication: the classes that tell the view who is calling, None if only the view knows.
        is_kept: whether the answer holds for the caller's next list as well.
        model: that of the view's queryset, where it is looked at and known without the queryset.
        permissions: classes of REST framework's own, which are asked in the place of the view;
            None for classes of the project, which see the view and the request.
        method: an HTTP method, "GET" standing for all safe ones where the model does not matter.
    """

    authentication: tuple[Any, ...] | None = None
    is_kept: bool = False
    model: Any = None
    permissions: tuple[Any, ...] | None = None
    method: str = ""


# Of tools that every caller sees.
UNASKED = AccessQuestion(is_kept=True, permissions=())


# One question for all tools that are asked the same of REST framework's own classes.
share_question = functools.lru_cache(maxsize=4096)(AccessQuestion)


@functools.lru_cache(maxsize=4096)
def get_question(tool: Any) -> AccessQuestion:
    """Return what decides whether a caller sees a tool."""
    return contain(lambda: find_question(tool), lambda exc: AccessQuestion())


def find_question(tool: Any) -> AccessQuestion:
    endpoint, view_class = tool.endpoint, tool.endpoint.view_class
    own = find_view_classes(endpoint.route.callback, "permission_classes")
    leaves = list(find_leaves(own or ()))
    classified = [classify(leaf) for leaf in leaves]
    kinds = {kind for _, kind in classified}
    # Tools to which no URL leads know the caller from the endpoint.
    is_known = not endpoint.has_http_request
    authenticates = view_class.perform_authentication is not APIView.perform_authentication
    has_own_steps = (authenticates and not is_known) or find_steps(view_class) != STOCK_STEPS
    queryset = endpoint.route.initkwargs.get("queryset")
    queryset = find_class_attribute(view_class, "queryset") if queryset is None else queryset
    model = getattr(queryset, "model", None)
    # Only a permission that looks at the model makes the queryset to find it.
    looks = (isinstance(e, type) and issubclass(e, DjangoModelPermissions) for e in leaves)
    spared = model if own is None or has_own_steps or any(looks) else None
    if own is None or not all(keeps for keeps, _ in classified):
        return AccessQuestion(model=spared)
    if permission_steps(view_class) == permission_steps(APIView) and kinds <= {OPEN}:
        return UNASKED
    authentication = find_view_classes(endpoint.route.callback, "authentication_classes")
    authentication = BY_ENDPOINT if is_known else authentication
    if authentication is None or has_own_steps:
        return AccessQuestion(model=spared)
    if MODEL not in kinds and None not in kinds:
        method = "GET" if endpoint.method in SAFE_METHODS else "POST"
        return share_question(authentication, True, None, own, method)
    if getattr(view_class, "_ignore_model_permissions", False):
        model = None
    elif model is None and None not in kinds and hasattr(view_class, "get_queryset"):
        model = Inspection(tool.view, endpoint.method).model
    if None in kinds or model is None:
        return AccessQuestion(authentication, True, spared)
    return share_question(authentication, True, model, own, endpoint.method)


def find_operands(permission: Any) -> list[Any]:
    """Return what a permission or its class is composed of, with ``&``, ``|`` and ``~``."""
    return [getattr(permission, name) for name in OPERANDS if hasattr(permission, name)]


def find_leaves(every: Iterable[Any]) -> Iterator[Any]:
    """Yield the permissions, or their classes, of which others are composed."""
    for each in every:
        operands = find_operands(each)
        yield from find_leaves(operands) if operands else [each]


def classify(permission_class: Any) -> tuple[bool, int | None]:
    """Return whether verdicts of a class may be kept, and what it looks at if it is no other's."""
    changed = False
    for base in getattr(permission_class, "__mro__", ()):
        own = vars(base)
        if "list_cache" in own:
            # What a subclass changes, it has to speak for itself.
            return own["list_cache"] is True and not changed, None
        if base in STOCK:
            return True, STOCK[base]
        if any(n in OWN_STEPS or (n in DATA and hasattr(type(own[n]), "__get__")) for n in own):
            break
        changed = changed or any(callable(own[n]) for n in own if n != "has_object_permission")
    return False, None


class Audience:
    """Tools that are listed together, by what decides who sees each of them.

    A set of the tools is a number, with a bit for each: the first tool has the lowest.

    Attributes:
        open: the tools that every caller sees.
        groups: the questions of the others, each with its tools and the first of them.
        kept: those whose answer holds for the caller's next list.
        authentications: the classes by which views know the caller, and a tool of each.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        self.tools = tools
        self.questions = [get_question(tool) for tool in tools]
        asked: dict[AccessQuestion, int] = {}
        for number, question in enumerate(self.questions):
            asked[question] = asked.get(question, 0) | 1 << number
        self.open = asked.pop(UNASKED, 0)
        self.groups = [
            (q, bits, tools[(bits & -bits).bit_length() - 1]) for q, bits in asked.items()
        ]
        self.kept = sum(bits for question, bits in asked.items() if question.is_kept)
        self.anew = [group for group in self.groups if not group[0].is_kept]
        self.authentications = {q.authentication: t for q, _, t in self.groups if q.is_kept}
        self.picked: dict[int, Sequence[Any]] = {}

    @classmethod
    @functools.lru_cache(maxsize=128)
    def of(cls, tools: tuple[Any, ...]) -> Audience:
        """Return the audience of these tools, found out once."""
        return cls(tools)

    @property
    def is_open(self) -> bool:
        """Whether every caller sees every tool."""
        return not self.groups

    def pick(self, bits: int) -> Sequence[Any]:
        """Return the tools of a set, as the same object each time it is one of the last sets."""
        picked = self.picked.get(bits)
        if picked is None:
            if len(self.picked) >= MOST_PICKED:
                self.picked.clear()
            selected = map(int, reversed(f"{bits:b}"))
            picked = self.picked[bits] = tuple(compress(self.tools, selected))
        return picked


# --- Asking on behalf of a caller ---------------------------------------------------------------


class StockRequest:
    # All that REST framework's own classes look at, and who is calling only where they look.
    def __init__(self, method: str, identify: Callable[[], Request]) -> None:
        self.method = method
        self.identify = identify

    @property
    def user(self) -> Any:
        return self.identify().user


class Visibility:
    """Asks the views' permissions on behalf of one caller.

    Args:
        remembers: whether answers are kept for the caller's next list, and those of the last one
            heeded. What lets a caller in asks anew.
    """

    identities_class = Identities

    def __init__(self, caller: Caller, *, remembers: bool = False) -> None:
        self.caller = caller
        self.remembers = remembers and is_kept()
        self.identities = self.identities_class(caller)
        self.answers: dict[AccessQuestion, bool] = {}
        self.is_sure = True

    def of(self, tools: Iterable[Any], start: int = 0, most: int | None = None) -> Sequence[Any]:
        """Return the tools that the caller sees.

        Args:
            start: how many tools at the beginning are passed over, and not asked.
            most: so many are enough; None for all.
        """
        audience = Audience.of(tuple(tools))
        identity = self.get_identity(audience) if self.remembers and audience.kept else None
        verdict = CachedVisibility()
        if identity is not None:
            verdict = visibility_cache.find(identity, audience)
        if most is None and start == 0:
            seen = audience.pick(self.ask_all(audience, verdict))
        else:
            seen = list(islice(self.ask_some(audience, verdict, start), most))
        self.restore_user()
        return seen

    def find_first(self, tools: Iterable[Any], most: int) -> list[Any]:
        """Return the first so many tools that the caller sees, asked now; no others are asked."""
        seen = list(islice(filter(self.allows, tools), most))
        self.restore_user()
        return seen

    def sees_any(self, tools: Iterable[Any]) -> bool:
        """Return whether the caller sees one of the tools, asked now."""
        return bool(self.find_first(tools, 1))

    def find_nearest(self, name: str, tools: Mapping[str, Any]) -> list[str]:
        """Return the names of tools that a wrong name is like, of those that the caller sees."""
        nearest = find_nearest(name, tools, MOST_ASKED)
        return [tool.name for tool in self.find_first(map(tools.__getitem__, nearest), MOST_NAMED)]

    def restore_user(self) -> None:
        # Views that authenticate in their own way have left their user on the request.
        self.caller.request.user = self.caller.authenticate().user

    def allows(self, tool: Any) -> bool:
        """Return whether the caller sees a tool, asked now."""
        return self.answer(get_question(tool), tool)

    def get_identity(self, audience: Audience) -> Identity | None:
        # Whom each of the views takes the caller for; a credential that is refused is known by
        # its text.
        parts: list[Identity | None] = []
        every = {self.caller.authentication_classes: None, **audience.authentications}
        for classes, tool in every.items():
            find = partial(lambda c, t: find_identity(self.identify(c, t)), classes, tool)
            parts.append(contain(find, lambda exc: (type(exc),)))
        return None if None in parts else sum(filter(None, parts), ())

    def ask_all(self, audience: Audience, verdict: CachedVisibility) -> int:
        known, seen = verdict.state
        if known != audience.kept:
            for question, bits, tool in audience.groups:
                if question.is_kept and bits & ~known and self.answer(question, tool):
                    seen |= bits
            if self.is_sure:
                verdict.state = audience.kept, seen
        for question, bits, tool in audience.anew:
            if self.answer(question, tool):
                seen |= bits
        return seen | audience.open

    def ask_some(self, audience: Audience, verdict: CachedVisibility, start: int) -> Iterator[Any]:
        known, seen = verdict.state
        for number in range(start, len(audience.tools)):
            question, tool, bit = audience.questions[number], audience.tools[number], 1 << number
            if not known & bit:
                seen |= bit if self.answer(question, tool) else 0
                known |= bit
                if self.is_sure:
                    verdict.state = known & audience.kept, seen & audience.kept
            if seen & bit:
                yield tool

    def answer(self, question: AccessQuestion, tool: Any) -> bool:
        # A permission that cannot be asked without an object or a body counts as given: the call
        # asks it for certain.
        if question not in self.answers:
            ask = self.ask_view if question.permissions is None else self.ask_classes
            self.answers[question] = contain(lambda: ask(question, tool), self.judge)
        return self.answers[question]

    def judge(self, exc: Exception) -> bool:
        # What a database could not answer now is asked again for the next list.
        self.is_sure = self.is_sure and not isinstance(exc, DatabaseError)
        return not turns_away(exc)

    def ask_classes(self, question: AccessQuestion, tool: Any) -> bool:
        # Making the view would cost more than asking its classes.
        identify = partial(self.identify, question.authentication, tool)
        request: Any = StockRequest(question.method, identify)
        view: Any = SimpleNamespace(queryset=SimpleNamespace(model=question.model))

        def ask() -> bool:
            return all(made().has_permission(request, view) for made in question.permissions or ())

        if question.model is None:
            return ask()
        # Rights may be read by a tenant that middleware sets; the user alone is known without it.
        # Where it refuses the path, which is that of one of several tools, the answer is yes.
        return Probe(self.caller, tool, identities=self.identities).ask_middleware(ask) is not False

    def ask_view(self, question: AccessQuestion, tool: Any) -> bool:
        probe = Probe(self.caller, tool, identities=self.identities)
        model = question.model
        prepare = None if model is None else partial(spare_queryset, model=model)

        def ask() -> bool:
            probe.check_permissions_alone(prepare)
            return True

        def judge(exc: Exception) -> bool:
            if probe.view.request is None and tool.endpoint.route.kwargs:
                # Middleware refused a path that no call has.
                return True
            # A call that lacks a scope alone is answered with the way to get it.
            return self.judge(exc) or self.is_short_of_scopes(probe.view)

        return contain(ask, judge)

    def identify(self, classes: Any, tool: Any) -> Request:
        """Return an authenticated request for authentication classes."""
        if classes == BY_ENDPOINT:
            return self.caller.authenticate()
        known = self.identities.known.get(classes)
        if known is None:
            inner = ToolRequest(self.caller, tool.endpoint.method, tool.endpoint.route.path)
            known = Request(inner, authenticators=[made() for made in classes])
            self.identities.known[classes] = known
        return known

    def is_short_of_scopes(self, view: Any) -> bool:
        request = view.request
        if request is None:
            # Middleware refused it.
            return False
        return bool(self.caller.find_missing_scopes(view, request, view.get_permissions()))


class KnownQueryset:
    """Replaces a view's queryset where only its model is looked at; the rest is the view's own."""

    def __init__(self, model: Any, view: Any) -> None:
        self.model = model
        self.view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self.view.get_queryset(), name)


def spare_queryset(view: Any, model: Any) -> None:
    # Making it may query, and REST framework's permission looks at nothing but its model.
    every = view.get_permissions()
    known = KnownQueryset(model, view)
    for permission in find_leaves(every):
        own = getattr(type(permission), "_queryset", None)
        if own is DjangoModelPermissions._queryset:
            permission._queryset = lambda view: known
    view.get_permissions = lambda: every


def turns_away(exc: Exception) -> bool:
    # Not so one that just misses a body or an object.
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


def is_open(tool: Any) -> bool:
    # Nothing is asked at the call either, in REST framework's own way.
    if permission_steps(tool.endpoint.view_class) != permission_steps(APIView):
        return False
    own = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return own is not None and all(permission is AllowAny for permission in own)
