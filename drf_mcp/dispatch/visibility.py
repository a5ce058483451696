"""Which tools a caller sees: the tools that the views' permissions let the caller call."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from rest_framework import permissions
from rest_framework.permissions import SAFE_METHODS, AllowAny, DjangoModelPermissions
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller, find_view_classes
from drf_mcp.dispatch.probe import Identities, Probe
from drf_mcp.dispatch.refusals import STOCK, is_refusal
from drf_mcp.exceptions import attempt, catch
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.source.members import find_leaves, find_member
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.settings import mcp_settings

# How many tools with a similar name are checked, and how many of them are suggested.
MOST_CHECKED, MOST_NAMED = 8, 3
PERMISSION_STEPS = attrgetter("get_permissions", "check_permissions")
STEPS = attrgetter(
    "get_permissions",
    "check_permissions",
    "permission_denied",
    "get_authenticators",
    "perform_authentication",
)
# The group of the tools that every caller sees.
OPEN = "open"


# --- Tools that one view can answer for ---------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def find_group(tool: Any) -> Any:
    """Return what all tools share whose permissions give a caller the same answer.

    `OPEN` for a tool that every caller sees, the tool itself where only its own view can tell.
    """
    return attempt(lambda: _find_group(tool) or tool, tool)


def _find_group(tool: Any) -> Any:
    endpoint = tool.endpoint
    callback, view_class, method = endpoint.route.callback, endpoint.view_class, endpoint.method
    classes = find_view_classes(callback, "permission_classes")
    if classes is None or PERMISSION_STEPS(view_class) != PERMISSION_STEPS(APIView):
        return None
    leaves = set(find_leaves(classes))
    if leaves <= {permissions.BasePermission, AllowAny}:
        return OPEN
    authentication = find_view_classes(callback, "authentication_classes")
    if authentication is None or STEPS(view_class) != STEPS(APIView) or not leaves <= STOCK.keys():
        return None
    if not any(STOCK[leaf] for leaf in leaves):
        return authentication, classes, method in SAFE_METHODS
    ignores = getattr(view_class, "_ignore_model_permissions", False)
    model = _find_model(tool)
    return model and (authentication, classes, method, model, ignores)


@functools.lru_cache(maxsize=4096)
def _find_model(tool: Any) -> Any:
    # Never by get_queryset() of a call, which may read the URL or ask the database.
    view_class = tool.endpoint.view_class
    queryset = tool.endpoint.route.initkwargs.get("queryset")
    queryset = find_member(view_class, "queryset") if queryset is None else queryset
    if queryset is None and hasattr(view_class, "get_queryset"):
        return Inspection(tool.view, tool.endpoint.method).model
    return getattr(queryset, "model", None)


def is_open(tool: Any) -> bool:
    """Return whether every caller sees a tool."""
    return find_group(tool) is OPEN


# --- The answers for one caller -----------------------------------------------------------------


class Visibility:
    """Asks the permissions of views for one caller, to say which tools the caller sees.

    One view answers for all tools of a group. CALL_MIDDLEWARE runs once for all tools whose URLs
    take the same arguments. Where it refuses the path of one tool, it is asked for the next; where
    the path has placeholders, the permissions of all are asked without it.
    """

    # Whether every view takes the endpoint's identity of the caller instead of its own.
    authenticates_once = False

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.identities = Identities(caller, is_shared=self.authenticates_once)
        # By group; by tool where CALL_MIDDLEWARE refused the tool's path.
        self.answers: dict[Any, bool] = {OPEN: True}

    def of(self, tools: Iterable[Any]) -> Sequence[Any]:
        """Return the tools that the caller sees."""
        every = list(tools)
        self._ask(every)
        # A view with other authentication has set its user on the caller's request.
        self.caller.request.user = self.caller.authenticate().user
        return [tool for tool in every if self._find_answer(tool)]

    def find_first(self, tools: Iterable[Any], most: int) -> list[Any]:
        """Return the first tools that the caller sees, and ask about no others."""
        return list(islice((tool for tool in tools if self.of([tool])), most))

    def sees_any(self, tools: Iterable[Any]) -> bool:
        """Return whether the caller sees one of the tools."""
        return bool(self.find_first(tools, 1))

    def find_nearest(self, name: str, tools: Mapping[str, Any]) -> list[str]:
        """Return the names most like a wrong name, of the tools that the caller sees."""
        nearest = find_nearest(name, tools, MOST_CHECKED)
        return [tool.name for tool in self.find_first(map(tools.__getitem__, nearest), MOST_NAMED)]

    def is_short_of_scopes(self, view: Any) -> bool:
        """Return whether a view refuses its request only because the token lacks a scope.

        A client sees such a tool, because the answer to a call says how to get the scope.
        """
        permissions = view.get_permissions()
        return bool(self.caller.find_missing_scopes(view, view.request, permissions))

    def _find_answer(self, tool: Any) -> bool | None:
        return self.answers.get(tool, self.answers.get(find_group(tool)))

    def _ask(self, tools: Iterable[Any]) -> None:
        by_kwargs: dict[Any, list[Any]] = {}
        for tool in tools:
            if self._find_answer(tool) is None:
                by_kwargs.setdefault(frozenset(tool.endpoint.route.kwargs), []).append(tool)
        for same in by_kwargs.values():
            while same and mcp_settings.CALL_MIDDLEWARE:
                self._ask_within_middleware(same)
            self._ask_views(same)

    def _ask_within_middleware(self, tools: list[Any]) -> None:
        # Removes the tools that are answered: all, unless the path of the first is refused.
        first = tools[0]
        probe = Probe(self.caller, first, identities=self.identities)

        def ask() -> bool:
            self._ask_views(tools, probe.request)
            tools.clear()
            return True

        passes = attempt(
            lambda: probe.ask_middleware(ask), otherwise=lambda exc: not is_refusal(exc)
        )
        if not tools:
            return
        if first.endpoint.route.kwargs:
            # No call has a path with placeholders: its refusal says nothing of any call.
            self._ask_views(tools, probe.request)
            tools.clear()
        else:
            self.answers[first] = bool(passes)
            del tools[0]

    def _ask_views(self, tools: Iterable[Any], request: Any = None) -> None:
        for tool in tools:
            if self._find_answer(tool) is None:
                sees = self._ask_view(tool, request)
                if not sees and request is not None and tool.endpoint.route.kwargs:
                    # What middleware did not find by the placeholders of a path, a call may have.
                    found = {k: v for k, v in vars(request).items() if v is not None}
                    sees = self._ask_view(tool, SimpleNamespace(**found))
                self.answers[find_group(tool)] = sees

    def _ask_view(self, tool: Any, request: Any) -> bool:
        probe = Probe(self.caller, tool, identities=self.identities)
        with catch():
            response = probe.judge_permissions(lambda view: _spare_queryset(view, tool), request)
            if response is not None:
                return False
            return probe.refusal is None or self.is_short_of_scopes(probe.view)
        # What fails without an object or a body leaves the answer to the call.
        return True


def _spare_queryset(view: Any, tool: Any) -> None:
    # DjangoModelPermissions reads only the model of the queryset, which may need the URL.
    every, stock = view.get_permissions(), DjangoModelPermissions
    own = [p for p in find_leaves(every) if isinstance(p, stock)]
    own = [p for p in own if type(p).has_permission is stock.has_permission]
    model = _find_model(tool) if own else None
    if model is None:
        return
    for permission in own:
        if type(permission)._queryset is stock._queryset:
            vars(permission)["_queryset"] = lambda view: model._default_manager.none()
    view.get_permissions = lambda: every
