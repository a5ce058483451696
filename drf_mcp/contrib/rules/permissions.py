"""Rules for plain HTTP, where a project asks for it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from drf_mcp.contrib.rules.ruling import ALLOW, APPROVE, decide, find_rules
from drf_mcp.contrib.rules.values import CallValues
from drf_mcp.dispatch.guards import CallCrashed
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.features import CallState
from drf_mcp.tools.registry import registry


class ValuesOfRequest(CallValues):
    """The values of a request of plain HTTP, whose view is there already."""

    view: Any = None

    @cached_property
    def object(self) -> Any:
        return get_named_object(self.view)


class RequestCaller:
    def __init__(self, request: Request) -> None:
        self.request = request

    def authenticate(self) -> Request:
        return self.request


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
        caller: Any = RequestCaller(request)
        call = CallState(tool, None, caller)
        call.bound = tool.arguments.rebuild_call(view, request.data)
        values = ValuesOfRequest(call)
        values.view = view
        try:
            _rule, ruling = decide(rules, values)
        except CallCrashed as exc:
            raise exc.cause from exc
        if ruling.verdict == APPROVE:
            reason = _("It has to be approved, which only calls of agents can be.")
            raise PermissionDenied(f"{ruling.reason} {reason}")
        if ruling.verdict != ALLOW:
            raise PermissionDenied(ruling.reason)
        return True
