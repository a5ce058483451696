"""Which tools a caller sees: those that the permissions of the views let the caller call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, islice
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

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
    can_cache,
    find_identity,
    visibility_cache,
)
from drf_mcp.dispatch.probe import Identities, Probe
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import catch, contain
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.source.members import find_class_attribute
from drf_mcp.option_types.spelling import find_nearest

# How many tools with a similar name are checked, and how many of them are suggested.
MOST_CHECKED, MOST_NAMED = 8, 3
# How many sets of tools `ListedTools` keeps: one for each kind of caller.
MOST_PICKED = 64

permission_steps = attrgetter("get_permissions", "check_permissions")
find_steps = attrgetter(
    "get_permissions", "check_permissions", "permission_denied", "get_authenticators"
)
STOCK_STEPS = find_steps(APIView)
# In the place of a view's authentication classes, for a tool that no URL leads to.
BY_ENDPOINT = ("endpoint",)
# What REST framework's own permission classes read: nothing, the user and the method, or the model
# of the view's queryset as well.
NOTHING, USER, MODEL = range(3)
STOCK: Mapping[type, int] = {
    permissions.BasePermission: NOTHING,
    permissions.AllowAny: NOTHING,
    permissions.IsAuthenticated: USER,
    permissions.IsAdminUser: USER,
    permissions.IsAuthenticatedOrReadOnly: USER,
    permissions.DjangoModelPermissions: MODEL,
    permissions.DjangoModelPermissionsOrAnonReadOnly: MODEL,
    permissions.DjangoObjectPermissions: MODEL,
}
# Members with which a subclass of these classes checks something else.
OWN_CHECKS = frozenset({"has_permission", "get_required_permissions", "_queryset"}) | {
    "__init__",
    "__new__",
    "__getattr__",
    "__getattribute__",
}
DATA = ("perms_map", "authenticated_users_only")
OPERANDS = ("op1_class", "op2_class", "op1", "op2")


# --- The permission check of a tool -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PermissionCheck:
    """What a view checks before it looks at a row. Tools with the same check share the result.

    Attributes:
        authentication: the view's authentication classes; None if only an instance has them.
        is_cacheable: whether the caller's next list may use the result.
        model: the model of the view's queryset, where a permission reads it and the view's class
            has it.
        permissions: REST framework's own classes, which are checked without the view; None for
            classes of the project, which read the view and the request.
        method: an HTTP method; "GET" for all safe methods, where the model does not matter.
    """

    authentication: tuple[Any, ...] | None = None
    is_cacheable: bool = False
    model: Any = None
    permissions: tuple[Any, ...] | None = None
    method: str = ""


# Of tools that every caller sees.
NO_CHECK = PermissionCheck(is_cacheable=True, permissions=())


# Returns the same check for all tools with the same classes, model and method.
share_check = functools.lru_cache(maxsize=4096)(PermissionCheck)


@functools.lru_cache(maxsize=4096)
def get_permission_check(tool: Any) -> PermissionCheck:
    """Return what decides whether a caller sees a tool."""
    with catch():
        return find_permission_check(tool)
    return PermissionCheck()


def find_permission_check(tool: Any) -> PermissionCheck:
    endpoint, view_class = tool.endpoint, tool.endpoint.view_class
    callback = endpoint.route.callback
    classes = find_view_classes(callback, "permission_classes")
    leaves = list(find_leaves(classes or ()))
    kinds = [classify(leaf) for leaf in leaves]
    read = {kind.reads for kind in kinds}
    # For a tool without a URL the endpoint authenticates.
    by_endpoint = not endpoint.has_http_request
    authenticates = view_class.perform_authentication is not APIView.perform_authentication
    has_own_steps = (authenticates and not by_endpoint) or find_steps(view_class) != STOCK_STEPS
    queryset = endpoint.route.initkwargs.get("queryset")
    queryset = find_class_attribute(view_class, "queryset") if queryset is None else queryset
    model = getattr(queryset, "model", None)
    # REST framework's class makes the queryset to find the model. A class of the project may read
    # the queryset itself.
    reads_model = any(isinstance(e, type) and issubclass(e, DjangoModelPermissions) for e in leaves)
    spared = model if classes is None or has_own_steps or reads_model else None
    if classes is None or not all(kind.is_cacheable for kind in kinds):
        return PermissionCheck(model=spared)
    if permission_steps(view_class) == permission_steps(APIView) and read <= {NOTHING}:
        return NO_CHECK
    authentication = find_view_classes(callback, "authentication_classes")
    authentication = BY_ENDPOINT if by_endpoint else authentication
    if authentication is None or has_own_steps:
        return PermissionCheck(model=spared)
    if None in read:
        return PermissionCheck(authentication, True, spared)
    if MODEL not in read:
        method = "GET" if endpoint.method in SAFE_METHODS else "POST"
        return share_check(authentication, True, None, classes, method)
    if getattr(view_class, "_ignore_model_permissions", False):
        # REST framework's permission lets every user pass, and only the view can tell.
        model = None
    elif model is None and hasattr(view_class, "get_queryset"):
        model = Inspection(tool.view, endpoint.method).model
    if model is None:
        return PermissionCheck(authentication, True)
    return share_check(authentication, True, model, classes, endpoint.method)


def find_operands(permission: Any) -> list[Any]:
    """Return what a permission or its class is composed of, with ``&``, ``|`` and ``~``."""
    return [getattr(permission, name) for name in OPERANDS if hasattr(permission, name)]


def find_leaves(every: Iterable[Any]) -> Iterator[Any]:
    """Yield the permissions, or their classes, of which others are composed."""
    for each in every:
        operands = find_operands(each)
        yield from find_leaves(operands) if operands else [each]


class PermissionKind(NamedTuple):
    """What is known of a permission class.

    Attributes:
        is_cacheable: whether a list may use the result of an earlier list.
        reads: what REST framework's class reads: NOTHING, USER or MODEL; None for other classes.
    """

    is_cacheable: bool
    reads: int | None = None


def classify(permission_class: Any) -> PermissionKind:
    changed = False
    for base in getattr(permission_class, "__mro__", ()):
        own = vars(base)
        if "list_cache" in own:
            # A subclass with other methods needs the attribute itself.
            return PermissionKind(own["list_cache"] is True and not changed)
        if base in STOCK:
            return PermissionKind(True, STOCK[base])
        if any(n in OWN_CHECKS or (n in DATA and hasattr(type(own[n]), "__get__")) for n in own):
            break
        changed = changed or any(callable(own[n]) for n in own if n != "has_object_permission")
    return PermissionKind(False)


class ListedTools:
    """Tools that are listed together, with their permission checks.

    A set of the tools is an integer with a bit for each tool, the lowest for the first tool.

    Attributes:
        open: the set of the tools that every caller sees.
        groups: each other check, with the set of its tools and the first of them.
        cacheable: the set of the tools whose check `is_cacheable`.
        uncached: the groups of the other checks.
        authentications: a tool for each tuple of authentication classes of the cacheable checks.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        self.tools = tools
        self.checks = [get_permission_check(tool) for tool in tools]
        sets: dict[PermissionCheck, int] = {}
        for number, check in enumerate(self.checks):
            sets[check] = sets.get(check, 0) | 1 << number
        self.open = sets.pop(NO_CHECK, 0)
        self.groups = [
            (check, bits, tools[(bits & -bits).bit_length() - 1]) for check, bits in sets.items()
        ]
        self.cacheable = sum(bits for check, bits in sets.items() if check.is_cacheable)
        self.uncached = [group for group in self.groups if not group[0].is_cacheable]
        self.authentications = {c.authentication: t for c, _, t in self.groups if c.is_cacheable}
        self.picked: dict[int, Sequence[Any]] = {}

    @classmethod
    @functools.lru_cache(maxsize=128)
    def of(cls, tools: tuple[Any, ...]) -> ListedTools:
        """Return the same object for the same tools."""
        return cls(tools)

    @property
    def is_open(self) -> bool:
        """Whether every caller sees every tool."""
        return not self.groups

    def pick(self, bits: int) -> Sequence[Any]:
        """Return the tools of a set; the same sequence for the same set, mostly."""
        picked = self.picked.get(bits)
        if picked is None:
            if len(self.picked) >= MOST_PICKED:
                self.picked.clear()
            selected = map(int, reversed(f"{bits:b}"))
            picked = self.picked[bits] = tuple(compress(self.tools, selected))
        return picked


# --- The checks for one caller ------------------------------------------------------------------


class StockRequest:
    # All that REST framework's own classes read. The user is found where a class reads it.
    def __init__(self, method: str, identify: Callable[[], Request]) -> None:
        self.method = method
        self.identify = identify

    @property
    def user(self) -> Any:
        return self.identify().user


class Visibility:
    """Checks the permissions of views for one caller, to say which tools the caller sees.

    Args:
        uses_cache: whether cacheable results are read from the `visibility_cache` and kept there.
            Where a result lets a call pass, the permissions are checked anew.
    """

    identities_class = Identities

    def __init__(self, caller: Caller, *, uses_cache: bool = False) -> None:
        self.caller = caller
        self.uses_cache = uses_cache and can_cache()
        self.identities = self.identities_class(caller)
        self.results: dict[PermissionCheck, bool] = {}
        # False once a database has failed: then no result is kept.
        self.keeps_results = True

    def of(self, tools: Iterable[Any], start: int = 0, most: int | None = None) -> Sequence[Any]:
        """Return the tools that the caller sees.

        Args:
            start: how many of the first tools are left out, and not checked.
            most: how many tools are enough; None for all.
        """
        listed = ListedTools.of(tuple(tools))
        identity = self.get_identity(listed) if self.uses_cache and listed.cacheable else None
        cached = CachedVisibility()
        if identity is not None:
            cached = visibility_cache.find(identity, listed)
        if most is None and start == 0:
            seen = listed.pick(self.check_all(listed, cached))
        else:
            seen = list(islice(self.check_some(listed, cached, start), most))
        self.restore_user()
        return seen

    def find_first(self, tools: Iterable[Any], most: int) -> list[Any]:
        """Return the first tools that the caller sees, checked now; the others are not checked."""
        seen = list(islice(filter(self.allows, tools), most))
        self.restore_user()
        return seen

    def sees_any(self, tools: Iterable[Any]) -> bool:
        """Return whether the caller sees one of the tools, asked now."""
        return bool(self.find_first(tools, 1))

    def find_nearest(self, name: str, tools: Mapping[str, Any]) -> list[str]:
        """Return the names most like a wrong name, of the tools that the caller sees."""
        nearest = find_nearest(name, tools, MOST_CHECKED)
        return [tool.name for tool in self.find_first(map(tools.__getitem__, nearest), MOST_NAMED)]

    def restore_user(self) -> None:
        # A view with other authentication has set its user on the caller's request.
        self.caller.request.user = self.caller.authenticate().user

    def allows(self, tool: Any) -> bool:
        """Return whether the caller sees a tool, checked now."""
        return self.check(get_permission_check(tool), tool)

    def get_identity(self, listed: ListedTools) -> Identity | None:
        # The key of the cache: the user whom each of the authentication classes finds, or the class
        # of the exception. None where one of the users has no key.
        parts: list[Identity | None] = []
        every = {self.caller.authentication_classes: None, **listed.authentications}
        for classes, tool in every.items():
            with catch() as caught:
                parts.append(find_identity(self.identify(classes, tool)))
                continue
            parts.append((type(caught.exception),))
        return None if None in parts else sum(filter(None, parts), ())

    def check_all(self, listed: ListedTools, cached: CachedVisibility) -> int:
        known, seen = cached.state
        if known != listed.cacheable:
            for check, bits, tool in listed.groups:
                if check.is_cacheable and bits & ~known and self.check(check, tool):
                    seen |= bits
            if self.keeps_results:
                cached.state = listed.cacheable, seen
        for check, bits, tool in listed.uncached:
            if self.check(check, tool):
                seen |= bits
        return seen | listed.open

    def check_some(
        self, listed: ListedTools, cached: CachedVisibility, start: int
    ) -> Iterator[Any]:
        known, seen = cached.state
        for number in range(start, len(listed.tools)):
            check, tool, bit = listed.checks[number], listed.tools[number], 1 << number
            if not known & bit:
                seen |= bit if self.check(check, tool) else 0
                known |= bit
                if self.keeps_results:
                    cached.state = known & listed.cacheable, seen & listed.cacheable
            if seen & bit:
                yield tool

    def check(self, check: PermissionCheck, tool: Any) -> bool:
        # A permission that fails without an object or a body counts as given: the call checks it.
        if check not in self.results:
            method = self.check_view if check.permissions is None else self.check_classes
            self.results[check] = contain(lambda: method(check, tool), self.judge)
        return self.results[check]

    def judge(self, exc: Exception) -> bool:
        self.keeps_results = self.keeps_results and not isinstance(exc, DatabaseError)
        return not is_refusal(exc)

    def check_classes(self, check: PermissionCheck, tool: Any) -> bool:
        # Making the view would cost more than checking its classes.
        identify = partial(self.identify, check.authentication, tool)
        request: Any = StockRequest(check.method, identify)
        view: Any = SimpleNamespace(queryset=SimpleNamespace(model=check.model))

        def ask() -> bool:
            return all(made().has_permission(request, view) for made in check.permissions or ())

        if check.model is None:
            return ask()
        # A backend may read rights by a tenant that middleware sets. Middleware that refuses the
        # path refuses one of several tools, so the others are seen.
        return Probe(self.caller, tool, identities=self.identities).ask_middleware(ask) is not False

    def check_view(self, check: PermissionCheck, tool: Any) -> bool:
        probe = Probe(self.caller, tool, identities=self.identities)
        prepare = None if check.model is None else partial(spare_queryset, model=check.model)
        with catch() as caught:
            probe.check_permissions_alone(prepare)
            return True
        if probe.view.request is None and tool.endpoint.route.kwargs:
            # Middleware refused a path with placeholders, which no call has.
            return True
        # A call that only lacks a scope is answered with how to get the scope.
        return self.judge(caught.exception) or self.is_short_of_scopes(probe.view)

    def identify(self, classes: Any, tool: Any) -> Request:
        """Return a request authenticated by these classes, once for all tools."""
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
            # Middleware has refused the request.
            return False
        return bool(self.caller.find_missing_scopes(view, request, view.get_permissions()))


class KnownQueryset:
    """Has the model of a view's queryset, and makes the queryset for any other attribute."""

    def __init__(self, model: Any, view: Any) -> None:
        self.model = model
        self.view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self.view.get_queryset(), name)


def spare_queryset(view: Any, model: Any) -> None:
    # Making the queryset may query the database; REST framework's permission reads only its model.
    every = view.get_permissions()
    known = KnownQueryset(model, view)
    for permission in find_leaves(every):
        own = getattr(type(permission), "_queryset", None)
        if own is DjangoModelPermissions._queryset:
            permission._queryset = lambda view: known
    view.get_permissions = lambda: every


def is_refusal(exc: Exception) -> bool:
    """Return whether an exception of a permission refuses the caller.

    Any other exception is that of a permission without the body or the object that it needs.
    """
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


def is_open(tool: Any) -> bool:
    """Return whether the view of a tool has no permission but `AllowAny`."""
    if permission_steps(tool.endpoint.view_class) != permission_steps(APIView):
        return False
    own = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return own is not None and all(permission is AllowAny for permission in own)
