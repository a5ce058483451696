"""Why somebody may call a tool or not: its permissions, throttles and row filters, one by one.

Nothing is called and nothing is counted: permissions are asked as the list of tools asks
them, quotas are read from the throttles' caches, rows from the view's own queryset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

from rest_framework import permissions
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request

from drf_mcp.access.narrowing import Narrowing, get_own_narrowings
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.throttling import QuotaReader
from drf_mcp.dispatch.visibility import turns_away
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import negotiate
from drf_mcp.outcomes import RateLimit
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.local_caller import LocalEndpoint

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
    # "narrowing", "endpoint", "permission", "throttle", "rows" or "object permission".
    kind: str
    name: str
    # None where it depends on the row or cannot be asked.
    allows: bool | None
    says: str
    # What would change the decision, "" if that is not known.
    needed: str = ""


class TracedPermission:
    def __init__(self, permission: Any, request: Request, view: Any) -> None:
        self.permission = permission
        self.request = request
        self.view = view
        self.name = self.get_name(permission)

    def get_name(self, permission: Any) -> str:
        for composed, word in COMPOSED.items():
            if isinstance(permission, composed):
                return f"({self.get_name(permission.op1)} {word} {self.get_name(permission.op2)})"
        if isinstance(permission, NEGATED):
            return f"not {self.get_name(permission.op1)}"
        return type(permission).__name__

    def get_step(self, kind: str) -> Step:
        allows: Any = contain(
            lambda: bool(self.permission.has_permission(self.request, self.view)), lambda exc: exc
        )
        if isinstance(allows, Exception):
            # Permissions of some projects raise their refusal.
            if turns_away(allows):
                return Step(kind, self.name, False, f"refuses: {allows}")
            says = f"cannot be asked without a call: {allows!r}"
            return Step(kind, self.name, None, says)
        if allows:
            return Step(kind, self.name, True, "allows it")
        return Step(kind, self.name, False, "refuses", self.get_needs(self.permission))

    def get_object_step(self, rows: Any) -> Step | None:
        # None for a permission that is not about objects.
        base = permissions.BasePermission.has_object_permission
        if getattr(type(self.permission), "has_object_permission", base) is base:
            return None
        kind, name = "object permission", f"{self.name}.has_object_permission"
        decisions = [
            contain(partial(self.allows_object, row), lambda exc: False)
            for row in islice(rows.all(), SAMPLE)
        ]
        allowed, asked = sum(decisions), len(decisions)
        sample = f"{'the first ' if asked == SAMPLE else ''}{asked}"
        sample += f" {rows.model._meta.verbose_name_plural}"
        if allowed == asked:
            return Step(kind, name, True, f"allows all {sample}")
        allows = None if allowed else False
        needed = self.get_needs(self.permission)
        return Step(kind, name, allows, f"allows {allowed} of {sample}", needed)

    def allows_object(self, row: Any) -> bool:
        return bool(self.permission.has_object_permission(self.request, self.view, row))

    def get_needs(self, permission: Any) -> str:
        for composed, word in COMPOSED.items():
            if isinstance(permission, composed):
                operands = (permission.op1, permission.op2)
                return f" {word} ".join(filter(None, map(self.get_needs, operands)))
        if isinstance(permission, NEGATED):
            return f"a caller whom {self.get_name(permission.op1)} refuses"
        if isinstance(permission, permissions.DjangoModelPermissions):
            return contain(lambda: self.get_missing(permission), lambda exc: "")
        for known in type(permission).__mro__:
            if known in NEEDS:
                return NEEDS[known]
        docstring = (type(permission).__doc__ or "").strip().partition("\n")[0]
        return str(getattr(permission, "message", None) or docstring).rstrip(".")

    def get_missing(self, permission: Any) -> str:
        # REST framework names the permissions that a method requires, not those that are missing.
        user, method = self.request.user, str(self.request.method)
        if not user.is_authenticated:
            return NEEDS[permissions.IsAuthenticated]
        model = permission._queryset(self.view).model
        required = permission.get_required_permissions(method, model)
        if isinstance(permission, permissions.DjangoObjectPermissions):
            required = permission.get_required_object_permissions(method, model)
        missing = [name for name in required if not user.has_perm(name)]
        return f"the permission {' and '.join(missing)}" if missing else ""


class PermissionTrace:
    """Every decision over one user's call of a tool, in the order in which a call meets them.

    Args:
        tool: the tool.
        user: None for an anonymous caller.
        endpoint: where the tool is called; None for an endpoint as the settings have it.
        narrowings: what takes tools away from the caller beside the endpoint.
    """

    def __init__(
        self,
        tool: Tool,
        user: Any,
        endpoint: LocalEndpoint | None = None,
        narrowings: Sequence[Narrowing] = (),
    ) -> None:
        self.tool = tool
        self.who = "An anonymous caller" if user is None else str(user.get_username())
        self.caller = (endpoint or LocalEndpoint()).make_caller(user)
        self.narrowings = narrowings
        # The endpoint's permissions are steps of their own: a refusal ends no question here.
        self.caller.admitted = True
        method, path = tool.endpoint.method, tool.endpoint.route.path
        self.request = Request(ToolRequest(self.caller, method, path))
        self.view: Any = tool.endpoint.view()
        self.view.request = self.request
        negotiate(self.view)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return (
            *self.get_narrowing_steps(),
            *self.get_endpoint_steps(),
            *self.get_permission_steps(),
            *self.get_throttle_steps(),
            *self.get_row_steps(),
        )

    @property
    def allows(self) -> bool | None:
        """The whole decision; None where it depends on the row."""
        decisions = {step.allows for step in self.steps}
        if False in decisions:
            return False
        return None if None in decisions else True

    def as_data(self) -> dict[str, Any]:
        """Return the decision and its steps as JSON."""
        steps = [asdict(step) for step in self.steps]
        return {"allows": self.allows, "verdict": self.verdict, "steps": steps}

    @property
    def verdict(self) -> str:
        if self.allows is True:
            return f"{self.who} may call {self.tool.name}."
        deciding = next(step for step in self.steps if step.allows is self.allows)
        may, within = ("may not", "") if self.allows is False else ("may", ", within limits")
        needed = f" Needed: {deciding.needed}." if deciding.needed else ""
        reason = f"{deciding.name} {deciding.says}.{needed}"
        return f"{self.who} {may} call {self.tool.name}{within}: {reason}"

    def get_narrowing_steps(self) -> Iterator[Step]:
        own: Any = contain(lambda: list(get_own_narrowings(self.request)), lambda exc: exc)
        if isinstance(own, Exception):
            yield Step("narrowing", "READ_ONLY", None, f"cannot be asked here: {own!r}")
            own = []
        for narrowing in dict.fromkeys((*self.caller.narrowings, *self.narrowings, *own)):
            allows = narrowing.allows(self.tool)
            says = "leaves the tool" if allows else narrowing.get_words(self.tool)
            yield Step("narrowing", narrowing.source, allows, says)

    def get_endpoint_steps(self) -> Iterator[Step]:
        for permission in self.caller.permissions:
            asked = TracedPermission(permission, self.request, self.caller.view)
            yield asked.get_step("endpoint")

    def get_permissions(self) -> list[TracedPermission]:
        return [
            TracedPermission(permission, self.request, self.view)
            for permission in self.view.get_permissions()
        ]

    def get_permission_steps(self) -> Iterator[Step]:
        asked: Any = contain(self.get_permissions, lambda exc: exc)
        if isinstance(asked, Exception):
            yield Step("permission", "get_permissions", None, f"cannot be asked here: {asked!r}")
            return
        yield from (permission.get_step("permission") for permission in asked)

    def get_throttle_steps(self) -> Iterator[Step]:
        reader = QuotaReader(self.view)
        for throttle in contain(self.view.get_throttles, lambda exc: []):
            name = type(throttle).__name__
            quotas: list[RateLimit] = contain(partial(list, reader.find(throttle)), lambda exc: [])
            for quota in quotas:
                left = f"{quota.remaining} of {quota.limit} calls left per {quota.period}"
                allows = quota.remaining != 0
                needed = "" if allows else f"to wait {quota.retry_after} seconds"
                yield Step("throttle", name, allows, f"has {left}", needed)
            if not quotas:
                says = "does not limit the caller now, or cannot be asked without counting a call"
                yield Step("throttle", name, True, says)

    def get_row_steps(self) -> Iterator[Step]:
        kwargs = self.tool.endpoint.route.kwargs
        # A call that creates looks at no rows.
        if not isinstance(self.view, GenericAPIView) or not (
            kwargs or self.request.method == "GET"
        ):
            return
        shown: Any = contain(lambda: list(self.filter_rows()), lambda exc: exc)
        if isinstance(shown, Exception):
            names = ", ".join(kwargs) or "arguments"
            yield Step("rows", "get_queryset", None, f"depends on {names} and cannot be asked here")
            return
        yield from (step for step, _ in shown)
        if kwargs:
            rows = shown[-1][1]
            steps = [p.get_object_step(rows) for p in contain(self.get_permissions, lambda exc: [])]
            yield from filter(None, steps)

    def filter_rows(self) -> Iterator[tuple[Step, Any]]:
        view, rows = self.view, self.view.get_queryset()
        own = type(view).get_queryset is not GenericAPIView.get_queryset
        source = f"{type(view).__name__}.{'get_queryset' if own else 'queryset'}"
        yield self.get_rows_step(source, rows, rows.model._default_manager.count()), rows
        for backend in view.filter_backends:
            before, rows = rows.count(), backend().filter_queryset(view.request, rows, view)
            if rows.count() != before:
                yield self.get_rows_step(backend.__name__, rows, before), rows

    def get_rows_step(self, name: str, rows: Any, before: int) -> Step:
        left, plural = rows.count(), rows.model._meta.verbose_name_plural
        if left == before:
            return Step("rows", name, True, f"shows all {before} {plural}")
        return Step("rows", name, None, f"shows {left} of {before} {plural}")
