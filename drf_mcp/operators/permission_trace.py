"""Why somebody may call a tool or not: its permissions, throttles and row filters, asked one
by one.

Nothing is called and nothing is counted: permissions are asked as the list of tools asks
them, quotas are read from the throttles' caches, rows from the view's own queryset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rest_framework import permissions
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.throttling import quotas_of
from drf_mcp.dispatch.visibility import turns_away
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import negotiate
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool
from drf_mcp.transports.in_process import local_caller

# Rows whose object permissions are asked.
SAMPLE = 100
NEEDS: dict[type, str] = {
    permissions.IsAdminUser: "a user with is_staff",
    permissions.IsAuthenticated: "a signed-in user",
    permissions.IsAuthenticatedOrReadOnly: "a signed-in user",
}
# REST framework's classes of composed permissions, by the word between their operands.
COMPOSED: dict[Any, str] = {permissions.AND: "and", permissions.OR: "or"}
NEGATED: Any = permissions.NOT


@dataclass(frozen=True)
class Step:
    """What one thing decides.

    Attributes:
        kind: ``endpoint``, ``permission``, ``throttle``, ``rows`` or ``object permission``.
        name: the class or method that decides.
        allows: its decision; None where it depends on the row or cannot be asked.
        says: the decision in words.
        needed: what would change it, "" for nothing or nothing known.
    """

    kind: str
    name: str
    allows: bool | None
    says: str
    needed: str = ""


@dataclass(frozen=True)
class Explanation:
    """What decides over one caller's call of a tool.

    Attributes:
        tool: the tool's name.
        who: the caller's name.
        steps: every decision, in the order in which a call meets them.
    """

    tool: str
    who: str
    steps: tuple[Step, ...]

    @property
    def allows(self) -> bool | None:
        """The whole decision; None where it depends on the row."""
        decisions = {step.allows for step in self.steps}
        if False in decisions:
            return False
        return None if None in decisions else True

    @property
    def verdict(self) -> str:
        """The decision in a sentence or two."""
        if self.allows is True:
            return f"{self.who} may call {self.tool}."
        deciding = next(step for step in self.steps if step.allows is self.allows)
        may, within = ("may not", "") if self.allows is False else ("may", ", within limits")
        needed = f" Needed: {deciding.needed}." if deciding.needed else ""
        said = f"{deciding.name} {deciding.says}.{needed}"
        return f"{self.who} {may} call {self.tool}{within}: {said}"


def explain(tool: Tool, user: Any) -> Explanation:
    """Return what decides over a user's call of a tool; a user of None is anonymous."""
    caller = local_caller(user)
    # The endpoint's permissions are asked below, where a refusal does not end the questions.
    caller.admitted = True
    view: Any = tool.endpoint.view()
    view.request = Request(ToolRequest(caller, tool.endpoint.method, tool.endpoint.route.path))
    negotiate(view)
    who = "An anonymous caller" if user is None else str(user.get_username())
    steps = (
        *endpoint_steps(caller, view.request),
        *permission_steps(view),
        *throttle_steps(view),
        *row_steps(tool, view),
    )
    return Explanation(tool.name, who, steps)


def endpoint_steps(caller: Caller, request: Request) -> Iterator[Step]:
    """Yield what the endpoint's own permissions decide."""
    for permission_class in mcp_settings.PERMISSION_CLASSES:
        yield permission_step("endpoint", permission_class(), request, caller.view)


def permission_steps(view: Any) -> Iterator[Step]:
    """Yield what each of the view's permissions decides."""
    asked: Any = contain(lambda: list(view.get_permissions()), lambda exc: exc)
    if isinstance(asked, Exception):
        yield Step("permission", "get_permissions", None, f"cannot be asked here: {asked!r}")
        return
    for permission in asked:
        yield permission_step("permission", permission, view.request, view)


def permission_step(kind: str, permission: Any, request: Request, view: Any) -> Step:
    """Return what one permission decides."""
    name = name_of(permission)
    allows: Any = contain(lambda: bool(permission.has_permission(request, view)), lambda exc: exc)
    if isinstance(allows, Exception):
        if turns_away(allows):
            return Step(kind, name, False, f"refuses: {allows}")
        return Step(kind, name, None, f"cannot be asked without a call: {allows!r}")
    if allows:
        return Step(kind, name, True, "allows it")
    return Step(kind, name, False, "refuses", needs(permission, request, view))


def name_of(permission: Any) -> str:
    """Return the class of a permission, written as it was composed."""
    for composed, word in COMPOSED.items():
        if isinstance(permission, composed):
            return f"({name_of(permission.op1)} {word} {name_of(permission.op2)})"
    if isinstance(permission, NEGATED):
        return f"not {name_of(permission.op1)}"
    return type(permission).__name__


def needs(permission: Any, request: Request, view: Any) -> str:
    """Return in words what a permission that refused asks for, "" if that is not known."""
    for composed, word in COMPOSED.items():
        if isinstance(permission, composed):
            parts = [needs(part, request, view) for part in (permission.op1, permission.op2)]
            return f" {word} ".join(filter(None, parts))
    if isinstance(permission, NEGATED):
        return f"a caller whom {name_of(permission.op1)} refuses"
    if isinstance(permission, permissions.DjangoModelPermissions):
        return contain(lambda: missing_permissions(permission, request, view), lambda exc: "")
    for known in type(permission).__mro__:
        if known in NEEDS:
            return NEEDS[known]
    return str(getattr(permission, "message", None) or own_words(permission)).rstrip(".")


def own_words(permission: Any) -> str:
    """Return the first line of what was written about a permission class."""
    return (type(permission).__doc__ or "").strip().partition("\n")[0]


def missing_permissions(permission: Any, request: Request, view: Any) -> str:
    """Return the model permissions that the user lacks."""
    if not request.user.is_authenticated:
        return NEEDS[permissions.IsAuthenticated]
    model, method = permission._queryset(view).model, str(request.method)
    required = permission.get_required_permissions(method, model)
    if isinstance(permission, permissions.DjangoObjectPermissions):
        required = permission.get_required_object_permissions(method, model)
    missing = [name for name in required if not request.user.has_perm(name)]
    return f"the permission {' and '.join(missing)}" if missing else ""


def throttle_steps(view: Any) -> Iterator[Step]:
    """Yield what each of the view's throttles would decide, without counting a call."""
    for throttle in contain(lambda: list(view.get_throttles()), lambda exc: []):
        name = type(throttle).__name__
        quotas = contain(lambda t=throttle: list(quotas_of(t, view)), lambda exc: [])  # type: ignore[misc]
        for quota in quotas:
            left = f"{quota.remaining} of {quota.limit} calls left per {quota.period}"
            allows = quota.remaining != 0
            needed = "" if allows else f"to wait {quota.retry_after} seconds"
            yield Step("throttle", name, allows, f"has {left}", needed)
        if not quotas:
            yield Step("throttle", name, True, "limits nobody now, or cannot be asked uncounted")


def row_steps(tool: Tool, view: Any) -> Iterator[Step]:
    """Yield which rows the view shows the caller, and what it lets the caller do with them."""
    if not isinstance(view, GenericAPIView) or not looks_at_rows(tool):
        return
    shown: Any = contain(lambda: list(visible_rows(view)), lambda exc: exc)
    if isinstance(shown, Exception):
        kwargs = ", ".join(tool.endpoint.route.kwargs) or "arguments"
        yield Step("rows", "get_queryset", None, f"depends on {kwargs} and cannot be asked here")
        return
    yield from (step for step, _ in shown)
    if tool.endpoint.route.kwargs:
        yield from object_steps(view, shown[-1][1])


def looks_at_rows(tool: Tool) -> bool:
    """Return whether a call reads or changes rows that are there."""
    return bool(tool.endpoint.route.kwargs) or tool.endpoint.method == "GET"


def visible_rows(view: Any) -> Iterator[tuple[Step, Any]]:
    """Yield what the queryset and each filter backend leave of the rows, and what is left."""
    rows = view.get_queryset()
    own = type(view).get_queryset is not GenericAPIView.get_queryset
    source = f"{type(view).__name__}.{'get_queryset' if own else 'queryset'}"
    before = rows.model._default_manager.count()
    yield rows_step(source, rows, before), rows
    for backend in view.filter_backends:
        before, rows = rows.count(), backend().filter_queryset(view.request, rows, view)
        if rows.count() != before:
            yield rows_step(backend.__name__, rows, before), rows


def rows_step(name: str, rows: Any, before: int) -> Step:
    """Return what is left of so many rows."""
    left, plural = rows.count(), rows.model._meta.verbose_name_plural
    if left == before:
        return Step("rows", name, True, f"shows all {before} {plural}")
    return Step("rows", name, None, f"shows {left} of {before} {plural}")


def object_steps(view: Any, rows: Any) -> Iterator[Step]:
    """Yield how many of the rows each object permission allows."""
    base = permissions.BasePermission.has_object_permission
    for permission in contain(lambda: list(view.get_permissions()), lambda exc: []):
        if getattr(type(permission), "has_object_permission", base) is base:
            continue
        decisions = [
            contain(
                lambda p=permission, r=row: bool(p.has_object_permission(view.request, view, r)),  # type: ignore[misc]
                lambda exc: False,
            )
            for row in islice(rows.all(), SAMPLE)
        ]
        yield object_step(view, permission, decisions, rows.model._meta.verbose_name_plural)


def object_step(view: Any, permission: Any, decisions: list[bool], plural: str) -> Step:
    """Return what an object permission decides over the rows that were asked."""
    name = f"{name_of(permission)}.has_object_permission"
    allowed, asked = sum(decisions), len(decisions)
    first = "the first " if asked == SAMPLE else ""
    if allowed == asked:
        return Step("object permission", name, True, f"allows all {first}{asked} {plural}")
    needed = needs(permission, view.request, view)
    says = f"allows {allowed} of {first}{asked} {plural}"
    return Step("object permission", name, None if allowed else False, says, needed)
