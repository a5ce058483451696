"""The report of ``mcp_tools why``: the decisions about one user's call of a tool, one by one."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import permissions
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request

from drf_mcp.access import Narrowing
from drf_mcp.access.narrowing import find_own_narrowings
from drf_mcp.access.throttles import find_quota
from drf_mcp.archives import Probe
from drf_mcp.dispatch.refusals import is_refusal
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.exceptions import attempt, catch
from drf_mcp.exposure import Tool
from drf_mcp.features import AccessStep, Call
from drf_mcp.introspection.inspection import negotiate
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.management.tool_reports import MODULES, ToolReport, name_permission
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import RateLimit
from drf_mcp.transports.in_process import LocalEndpoint

# Periods of a `RateLimit`, which names them in English.
PERIODS = (
    # Translators: of a quota, as are minute, hour and day: 10 calls per second.
    gettext_noop("second"),
    gettext_noop("minute"),
    gettext_noop("hour"),
    gettext_noop("day"),
)
# How many rows are asked about.
SAMPLE = 100
NEEDS: dict[type, str] = {
    permissions.IsAdminUser: gettext_noop("a user with is_staff"),
    permissions.IsAuthenticated: gettext_noop("a signed-in user"),
    permissions.IsAuthenticatedOrReadOnly: gettext_noop("a signed-in user"),
}
BOTH, EITHER = gettext_noop("%(first)s and %(last)s"), gettext_noop("%(first)s or %(last)s")
# The texts that join what the operands of REST framework's composed permissions need.
JOINTS: dict[Any, str] = {permissions.AND: BOTH, permissions.OR: EITHER}
NEGATED: Any = permissions.NOT


def lets_all_in(permission: Any) -> bool:
    """Return whether a permission is `AllowAny`; a subclass may override its methods."""
    methods, stock = ("has_permission", "has_object_permission"), permissions.AllowAny
    return all(getattr(type(permission), n, None) is getattr(stock, n) for n in methods)


def _write_name(permission: Any) -> str:
    return MODULES.sub("", name_permission(permission))


def _write_need(step: AccessStep) -> str:
    return _("Needed: %(needed)s.") % {"needed": step.needed} if step.needed else ""


class AskedPermission:
    """A permission of a view, and what it answers to one request."""

    def __init__(self, permission: Any, request: Request, view: Any) -> None:
        self.permission = permission
        self.request = request
        self.view = view
        self.name = _write_name(permission)

    def make_step(self, kind: str) -> AccessStep:
        with catch() as caught:
            if self.permission.has_permission(self.request, self.view):
                return AccessStep(kind, self.name, True, _("allows it"))
            return AccessStep(
                kind, self.name, False, _("refuses"), self._find_needs(self.permission)
            )
        exc = caught.exception
        # Permissions of some projects raise their refusal.
        if is_refusal(exc):
            return AccessStep(kind, self.name, False, _("refuses: %(reason)s") % {"reason": exc})
        says = _("cannot be asked without a call: %(error)r") % {"error": exc}
        return AccessStep(kind, self.name, None, says)

    def make_object_step(self, rows: Any) -> AccessStep | None:
        # None for a permission without a check of objects.
        base = permissions.BasePermission.has_object_permission
        if getattr(type(self.permission), "has_object_permission", base) is base:
            return None
        decisions = [
            attempt(partial(self._allows_object, row), False) for row in islice(rows.all(), SAMPLE)
        ]
        allowed, asked = sum(decisions), len(decisions)
        says = _("allows %(allowed)d of %(count)d %(rows)s")
        if asked == SAMPLE:
            says = _("allows %(allowed)d of the first %(count)d %(rows)s")
        facts = {"allowed": allowed, "count": asked, "rows": rows.model._meta.verbose_name_plural}
        name, allows = f"{self.name}.has_object_permission", True if allowed == asked else None
        needed = "" if allows else self._find_needs(self.permission)
        return AccessStep(
            "object permission", name, allows if allowed else not asked, says % facts, needed
        )

    def _allows_object(self, row: Any) -> bool:
        return bool(self.permission.has_object_permission(self.request, self.view, row))

    def _find_needs(self, permission: Any) -> str:
        if joint := JOINTS.get(type(permission)):
            first, last = map(self._find_needs, (permission.op1, permission.op2))
            both = _(joint) % {"first": first, "last": last}
            return both if first and last else first or last
        if isinstance(permission, NEGATED):
            name = _write_name(permission.op1)
            return _("a caller whom %(name)s refuses") % {"name": name}
        if isinstance(permission, permissions.DjangoModelPermissions):
            return attempt(lambda: self.find_missing(permission), "")
        for known in type(permission).__mro__:
            if known in NEEDS:
                return _(NEEDS[known])
        docstring = (type(permission).__doc__ or "").strip().partition("\n")[0]
        return str(getattr(permission, "message", None) or docstring).rstrip(".")

    def find_missing(self, permission: Any) -> str:
        # REST framework knows which permissions a method requires, not which the user lacks.
        method, model = str(self.request.method), permission._queryset(self.view).model
        find = permission.get_required_permissions
        if isinstance(permission, permissions.DjangoObjectPermissions):
            find = permission.get_required_object_permissions
        missing = [n for n in find(method, model) if not self.request.user.has_perm(n)]
        if not missing:
            return _(NEEDS[permissions.IsAuthenticated])
        names = reduce(lambda first, last: _(BOTH) % {"first": first, "last": last}, missing)
        return _("the permission %(names)s") % {"names": names}

    def find_audience(self) -> str:
        """Return whom the permission lets in, "" for everybody."""
        return (
            "" if lets_all_in(self.permission) else self._find_needs(self.permission) or self.name
        )


MARKS = {True: "yes", False: "NO", None: "depends"}
UNASKABLE = gettext_noop("cannot be asked here: %(error)r")


class PermissionTrace:
    """Every decision about one user's call of a tool, in the order of a call.

    Nothing is called and nothing is counted: permissions are asked as ``tools/list`` asks them,
    quotas are read from the caches of the throttles, and rows come from the view's queryset.

    Args:
        tool: the tool.
        user: None for an anonymous caller.
        endpoint: where the tool is called; None for an endpoint as the settings have it.
        narrowings: the caller's, in addition to the endpoint's.
    """

    def __init__(
        self,
        tool: Tool,
        user: Any,
        endpoint: LocalEndpoint | None = None,
        narrowings: Sequence[Narrowing] = (),
    ) -> None:
        self.tool = tool
        self.who = _("An anonymous caller") if user is None else str(user.get_username())
        self.caller = (endpoint or LocalEndpoint()).make_caller(user)
        self.narrowings = narrowings
        # Steps of their own: a refusal by the endpoint's permissions ends nothing here.
        self.permissions, self.caller.permissions = self.caller.permissions, []
        method, path = tool.endpoint.method, tool.endpoint.route.path
        self.request = Request(ToolRequest(self.caller, method, path))
        self.view: Any = tool.endpoint.view()
        self.view.request = self.request
        negotiate(self.view)

    @cached_property
    def steps(self) -> tuple[AccessStep, ...]:
        found, unasked = [*self._find_narrowing_steps()], self.view

        def look(view: Any) -> None:
            self.view, self.request = view, view.request
            found.extend(self._find_permission_steps())
            found.extend(self._find_feature_steps())
            found.extend(self._find_throttle_steps())
            found.extend(self._find_row_steps())

        refusal = self.ask(look)
        if isinstance(refusal, AuthenticationFailed) and self.view is unasked:
            says = _("refuses: %(reason)s") % {"reason": refusal}
            found.append(AccessStep("endpoint", "authentication", False, says))
        elif self.view is unasked:
            says = _(UNASKABLE) % {"error": refusal}
            found.append(AccessStep("middleware", "CALL_MIDDLEWARE", None, says))
        return tuple(found)

    def ask(self, look: Callable[[Any], None], call: Call | None = None) -> Exception | None:
        """Show the view of a call within CALL_MIDDLEWARE, and return what refused the call."""
        with catch() as caught:
            Probe(self.caller, self.tool, call or Call({})).check_permissions_alone(look)
            return None
        return caught.exception

    @property
    def allows(self) -> bool | None:
        """The whole decision; None where it depends on the row."""
        decisions = {step.allows for step in self.steps}
        if False in decisions:
            return False
        return None if None in decisions else True

    def as_data(self) -> dict[str, Any]:
        """Return the decision and its steps as JSON."""
        steps = [step._asdict() for step in self.steps]
        return {"allows": self.allows, "verdict": self.verdict, "steps": steps}

    def list_lines(self, screen: Screen) -> Iterator[str]:
        """Yield the decision and its steps as lines of a screen."""
        style = screen.style
        colours = {True: style.SUCCESS, False: style.ERROR, None: style.WARNING}
        yield from map(colours[self.allows], screen.wrap(self.verdict))
        yield ""
        for step in self.steps:
            yield f"{colours[step.allows](f'{MARKS[step.allows]:<8}')}{step.kind}: {step.name}"
            yield from screen.wrap(f"{step.says}. {_write_need(step)}", 8)

    @property
    def verdict(self) -> str:
        facts = {"who": self.who, "tool": self.tool.name}
        if self.allows is True:
            return _("%(who)s may call %(tool)s.") % facts
        deciding = next(step for step in self.steps if step.allows is self.allows)
        # Translators: the step says what the permission or throttle of that name does.
        reason = _("%(name)s %(says)s.") % {"name": deciding.name, "says": deciding.says}
        facts["reason"] = f"{reason} {_write_need(deciding)}".rstrip()
        if self.allows is False:
            return _("%(who)s may not call %(tool)s: %(reason)s") % facts
        return _("%(who)s may call %(tool)s, within limits: %(reason)s") % facts

    def ask_permissions(self) -> list[AskedPermission]:
        return [
            AskedPermission(permission, self.request, self.view)
            for permission in self.view.get_permissions()
        ]

    def _find_narrowing_steps(self) -> Iterator[AccessStep]:
        own: list[Narrowing] = []
        with catch() as caught:
            own += find_own_narrowings(self.request)
        if hasattr(caught, "exception"):
            yield AccessStep(
                "narrowing", "READ_ONLY", None, _(UNASKABLE) % {"error": caught.exception}
            )
        for narrowing in dict.fromkeys((*self.caller.narrowings, *self.narrowings, *own)):
            allows = narrowing.allows(self.tool)
            says = _("leaves the tool") if allows else narrowing.write_words(self.tool)
            yield AccessStep("narrowing", narrowing.source, allows, says)

    def _find_permission_steps(self) -> Iterator[AccessStep]:
        for permission in self.permissions:
            yield AskedPermission(permission, self.request, self.caller.view).make_step("endpoint")
        asked: Any = attempt(self.ask_permissions, otherwise=lambda exc: exc)
        if isinstance(asked, Exception):
            yield AccessStep("permission", "get_permissions", None, _(UNASKABLE) % {"error": asked})
            return
        yield from (permission.make_step("permission") for permission in asked)

    def _find_feature_steps(self) -> Iterator[AccessStep]:
        for get_steps in features.reviews["get_access_steps"]:
            found: Any = attempt(
                partial(get_steps, self.tool, self.caller), otherwise=lambda exc: exc
            )
            if isinstance(found, Exception):
                name, says = type(get_steps.__self__).__name__, _(UNASKABLE) % {"error": found}
                found = [AccessStep(name, name, None, says)]
            yield from found

    def _find_throttle_steps(self) -> Iterator[AccessStep]:
        for throttle in attempt(self.view.get_throttles, []):
            name = type(throttle).__name__
            read = partial(find_quota, throttle, self.view.request, self.view)
            quota: RateLimit | None = attempt(read, None)
            if quota:
                says = _("has %(remaining)s of %(limit)s calls left per %(period)s")
                says %= {**vars(quota), "period": _(str(quota.period))}
                allows = quota.remaining != 0
                needed = "" if allows else _("to wait %(retry_after)s seconds") % vars(quota)
                yield AccessStep("throttle", name, allows, says, needed)
            else:
                says = _(
                    "does not limit the caller now, or cannot be asked without counting a call"
                )
                yield AccessStep("throttle", name, True, says)

    def _find_row_steps(self) -> Iterator[AccessStep]:
        view, kwargs = self.view, self.tool.endpoint.route.kwargs
        # A call that creates reads no rows.
        if not isinstance(view, GenericAPIView) or not (kwargs or self.request.method == "GET"):
            return
        steps: list[AccessStep] = []

        def note(name: str, rows: Any, before: int) -> None:
            left, plural = rows.count(), rows.model._meta.verbose_name_plural
            facts = {"left": left, "count": before, "rows": plural}
            if left != before or not steps:
                says, allows = _("shows %(left)d of %(count)d %(rows)s"), left == before or None
                steps.append(AccessStep("rows", name, allows, says % facts))

        with catch():
            rows: Any = view.get_queryset()
            own = type(view).get_queryset is not GenericAPIView.get_queryset
            source = f"{type(view).__name__}.{'get_queryset' if own else 'queryset'}"
            note(source, rows, rows.model._default_manager.count())
            for backend in view.filter_backends:
                before, rows = rows.count(), backend().filter_queryset(view.request, rows, view)
                note(backend.__name__, rows, before)
            yield from steps
            if kwargs:
                asked = attempt(self.ask_permissions, [])
                yield from filter(None, (each.make_object_step(rows) for each in asked))
            return
        says = _("depends on arguments and cannot be asked here")
        if kwargs:
            says = _("depends on %(names)s and cannot be asked here")
        yield AccessStep("rows", "get_queryset", None, says % {"names": ", ".join(kwargs)})


class WhyReport(ToolReport):
    help = "each permission, throttle and row filter, and what it decides about --as USER"
    is_about_tools = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="TOOL", help="the tool, as it is listed")

    def trace(self, tool: Tool, user: Any, narrowings: Sequence[Narrowing]) -> PermissionTrace:
        return PermissionTrace(tool, user, narrowings=narrowings)

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        if options["username"] is None:
            raise UsageError("Name who calls with --as.")
        tool = command.find_tool(options["name"])
        user = command.find_user_or_anonymous(options["username"])
        trace = PermissionTrace(tool, user, command.endpoint)
        if options["json"]:
            return [command.format_json(trace.as_data())]
        return trace.list_lines(screen)
