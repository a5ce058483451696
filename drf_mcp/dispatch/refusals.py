"""Whether permissions refuse a caller whatever the call sends."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework import permissions
from rest_framework.permissions import AND, NOT, OR
from rest_framework.views import APIView

from drf_mcp.exceptions import catch
from drf_mcp.introspection.source.members import (
    FunctionSource,
    cached,
    follow_own,
    is_name,
    unwrap_function,
)
from drf_mcp.introspection.unknown import AskedRequest

# REST framework's own classes, and whether each reads the model of the view's queryset.
STOCK = {
    permissions.BasePermission: False,
    permissions.AllowAny: False,
    permissions.IsAuthenticated: False,
    permissions.IsAdminUser: False,
    permissions.IsAuthenticatedOrReadOnly: False,
    permissions.DjangoModelPermissions: True,
    permissions.DjangoModelPermissionsOrAnonReadOnly: True,
    permissions.DjangoObjectPermissions: True,
}
STEPS = attrgetter("check_permissions", "permission_denied")
# The steps before the permissions, which are not run where the arguments are not known.
EARLIER = ("dispatch", "initial", "setup")
READ_OF_CALL = frozenset(
    {"kwargs", "data", "query_params", "GET", "POST", "FILES", "body", "get_object", "path_info"}
    | {"path", "resolver_match"}
)


def find_refusal(view: Any, request: AskedRequest) -> Exception | None:
    """Return why a view refuses a caller whatever the call sends, None where the call decides."""
    is_open, before = _reads_call_before(type(view)), request.notes.reads
    if STEPS(type(view)) != STEPS(APIView):
        raised = _catch(lambda: view.check_permissions(request))
        is_certain = is_refusal(raised) and request.notes.reads == before and not is_open
        return raised if is_certain else None
    every = view.get_permissions()
    # Where the view chose its permissions by the call, another call has others.
    if request.notes.reads == before:
        for permission in every:
            if _judge(permission, view, request, is_open) is False:
                message, code = (getattr(permission, n, None) for n in ("message", "code"))
                return _catch(functools.partial(view.permission_denied, request, message, code))
    return None


def _judge(permission: Any, view: Any, request: AskedRequest, is_open: bool) -> bool | None:
    # True, False, or None where the answer depends on the call.
    kind = type(permission)
    if kind is NOT:
        inner = _judge(permission.op1, view, request, is_open)
        return None if inner is None else not inner
    if kind in (AND, OR):
        both = [_judge(each, view, request, is_open) for each in (permission.op1, permission.op2)]
        decisive = kind is OR
        if decisive in both:
            return decisive
        return None if None in both else not decisive
    found: list[bool] = []
    before = request.notes.reads
    raised = _catch(lambda: found.append(bool(permission.has_permission(request, view))))
    if is_refusal(raised):
        found.append(False)
    is_known = request.notes.reads == before and not (is_open and kind not in STOCK)
    return found[0] if found and is_known else None


def _catch(step: Callable[[], object]) -> Exception | None:
    with catch() as caught:
        step()
        return None
    return caught.exception


def is_refusal(exc: Exception | None) -> bool:
    """Return whether an exception of a permission refuses the caller.

    Any other exception comes from a permission that needs the body or the object.
    """
    return isinstance(exc, PermissionDenied) or getattr(exc, "status_code", None) in (401, 403)


@cached
def _reads_call_before(view_class: type) -> bool:
    """Return whether code of the project reads the call before the permissions of a view."""
    for function in follow_own(view_class, EARLIER):
        # Code that cannot be read, such as Cython's, may read it.
        layers = [layer for layer, _ in unwrap_function(function)] or [function]
        if any(map(_reads_call, layers)):
            return True
    return False


def _reads_call(function: Any) -> bool:
    source = FunctionSource(function)
    # ``super().initial(request, *args, **kwargs)`` reads none of them.
    handed_on = {n.value for n in source.nodes if isinstance(n, ast.keyword) and n.arg is None}
    return source.tree is None or any(
        getattr(node, "attr", "") in READ_OF_CALL
        or (is_name(node, "kwargs") and node not in handed_on)
        for node in source.nodes
    )
