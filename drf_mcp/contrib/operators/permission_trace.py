"""The report of ``mcp_tools --why``: the decisions about one user's call of a tool, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request

from drf_mcp.access.narrowing import Narrowing, get_own_narrowings
from drf_mcp.contrib.operators.view_permissions import AskedPermission, Step
from drf_mcp.dispatch.request import ToolRequest
from drf_mcp.dispatch.throttling import QuotaReader
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import negotiate
from drf_mcp.management.errors import UsageError
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.outcomes import RateLimit
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.local_endpoint import LocalEndpoint

MARKS = {True: gettext_noop("yes"), False: gettext_noop("NO"), None: gettext_noop("depends")}
UNASKABLE = gettext_noop("cannot be asked here: %(error)r")


class PermissionTrace:
    """Every decision about one user's call of a tool, in the order of a call.

    Nothing is called and nothing is counted: permissions are asked as ``tools/list`` asks them,
    quotas are read from the caches of the throttles, and rows come from the view's queryset.

    Args:
        tool: the tool.
        user: None for an anonymous caller.
        endpoint: where the tool is called; None for an endpoint as the settings have it.
        narrowings: those of the caller, in addition to the endpoint's.
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
        # The endpoint's permissions are steps of their own: a refusal by them ends nothing here.
        self.caller.admitted = True
        method, path = tool.endpoint.method, tool.endpoint.route.path
        self.request = Request(ToolRequest(self.caller, method, path))
        self.view: Any = tool.endpoint.view()
        self.view.request = self.request
        negotiate(self.view)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return (
            *self._make_narrowing_steps(),
            *self._make_endpoint_steps(),
            *self._make_permission_steps(),
            *self._make_throttle_steps(),
            *self._make_row_steps(),
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

    def list_lines(self, screen: Screen) -> Iterator[str]:
        """Yield the decision and its steps as lines of a screen."""
        style = screen.style
        colours = {True: style.SUCCESS, False: style.ERROR, None: style.WARNING}
        yield from map(colours[self.allows], screen.wrap(self.verdict))
        yield ""
        marks = {allows: _(mark) for allows, mark in MARKS.items()}
        width = max(map(len, marks.values())) + 1
        for step in self.steps:
            mark = colours[step.allows](f"{marks[step.allows]:<{width}}")
            yield f"{mark}{step.label}: {step.name}"
            yield from screen.wrap(f"{step.says}. {step.need}", width)

    @property
    def verdict(self) -> str:
        facts = {"who": self.who, "tool": self.tool.name}
        if self.allows is True:
            return _("%(who)s may call %(tool)s.") % facts
        deciding = next(step for step in self.steps if step.allows is self.allows)
        # Translators: the step says what the permission or throttle of that name does.
        reason = _("%(name)s %(says)s.") % {"name": deciding.name, "says": deciding.says}
        facts["reason"] = f"{reason} {deciding.need}".rstrip()
        if self.allows is False:
            return _("%(who)s may not call %(tool)s: %(reason)s") % facts
        return _("%(who)s may call %(tool)s, within limits: %(reason)s") % facts

    def _make_narrowing_steps(self) -> Iterator[Step]:
        own: Any = contain(lambda: list(get_own_narrowings(self.request)), lambda exc: exc)
        if isinstance(own, Exception):
            yield Step("narrowing", "READ_ONLY", None, _(UNASKABLE) % {"error": own})
            own = []
        for narrowing in dict.fromkeys((*self.caller.narrowings, *self.narrowings, *own)):
            allows = narrowing.allows(self.tool)
            says = _("leaves the tool") if allows else narrowing.get_words(self.tool)
            yield Step("narrowing", narrowing.label, allows, says)

    def _make_endpoint_steps(self) -> Iterator[Step]:
        for permission in self.caller.permissions:
            asked = AskedPermission(permission, self.request, self.caller.view)
            yield asked.make_step("endpoint")

    def ask_permissions(self) -> list[AskedPermission]:
        return [
            AskedPermission(permission, self.request, self.view)
            for permission in self.view.get_permissions()
        ]

    def _make_permission_steps(self) -> Iterator[Step]:
        asked: Any = contain(self.ask_permissions, lambda exc: exc)
        if isinstance(asked, Exception):
            yield Step("permission", "get_permissions", None, _(UNASKABLE) % {"error": asked})
            return
        yield from (permission.make_step("permission") for permission in asked)

    def _make_throttle_steps(self) -> Iterator[Step]:
        reader = QuotaReader(self.view)
        for throttle in contain(self.view.get_throttles, lambda exc: []):
            name = type(throttle).__name__
            quotas: list[RateLimit] = contain(partial(list, reader.find(throttle)), lambda exc: [])
            for quota in quotas:
                says = _("has %(remaining)s of %(limit)s calls left per %(period)s")
                says %= {**vars(quota), "period": _(str(quota.period))}
                allows = quota.remaining != 0
                needed = "" if allows else _("to wait %(retry_after)s seconds") % vars(quota)
                yield Step("throttle", name, allows, says, needed)
            if not quotas:
                says = _(
                    "does not limit the caller now, or cannot be asked without counting a call"
                )
                yield Step("throttle", name, True, says)

    def _make_row_steps(self) -> Iterator[Step]:
        kwargs = self.tool.endpoint.route.kwargs
        # A call that creates reads no rows.
        if not isinstance(self.view, GenericAPIView) or not (
            kwargs or self.request.method == "GET"
        ):
            return
        shown: Any = contain(lambda: list(self._filter_rows()), lambda exc: exc)
        if isinstance(shown, Exception):
            says = _("depends on arguments and cannot be asked here")
            if kwargs:
                says = _("depends on %(names)s and cannot be asked here")
            yield Step("rows", "get_queryset", None, says % {"names": ", ".join(kwargs)})
            return
        yield from (step for step, _rows in shown)
        if kwargs:
            rows = shown[-1][1]
            asked = contain(self.ask_permissions, lambda exc: [])
            yield from filter(None, (permission.make_object_step(rows) for permission in asked))

    def _filter_rows(self) -> Iterator[tuple[Step, Any]]:
        view, rows = self.view, self.view.get_queryset()
        own = type(view).get_queryset is not GenericAPIView.get_queryset
        source = f"{type(view).__name__}.{'get_queryset' if own else 'queryset'}"
        yield self._make_rows_step(source, rows, rows.model._default_manager.count()), rows
        for backend in view.filter_backends:
            before, rows = rows.count(), backend().filter_queryset(view.request, rows, view)
            if rows.count() != before:
                yield self._make_rows_step(backend.__name__, rows, before), rows

    def _make_rows_step(self, name: str, rows: Any, before: int) -> Step:
        left, plural = rows.count(), rows.model._meta.verbose_name_plural
        facts = {"left": left, "count": before, "rows": plural}
        if left == before:
            return Step("rows", name, True, _("shows all %(count)d %(rows)s") % facts)
        return Step("rows", name, None, _("shows %(left)d of %(count)d %(rows)s") % facts)


class WhyReport(ToolReport):
    help = "with --as: each permission, throttle and row filter, and its decision"
    is_about_tools = False

    def add_argument(self, add: Callable[..., Any], option: str) -> None:
        add(option, metavar="TOOL", help=self.help)

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        if options["username"] is None:
            raise UsageError(_("--why needs --as USER."))
        tool = command.find_tool(options["why"], command.endpoint)
        user = command.find_user_or_anonymous(options["username"])
        trace = self.trace(tool, user, command.endpoint)
        if options["json"]:
            return [command.format_json(trace.as_data())]
        return trace.list_lines(screen)

    def trace(
        self,
        tool: Tool,
        user: Any,
        endpoint: LocalEndpoint | None = None,
        narrowings: Sequence[Narrowing] = (),
    ) -> PermissionTrace:
        return PermissionTrace(tool, user, endpoint, narrowings)
