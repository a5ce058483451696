"""One tool for the figures of all lists that declare none, in place of a tool for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.aggregates import SHARED
from drf_mcp.contrib.aggregates.figures import ORDERS
from drf_mcp.contrib.aggregates.listing import (
    DEFAULTS,
    MOST_GROUPS,
    AggregateEndpoint,
    UndeclaredAggregateList,
)
from drf_mcp.contrib.aggregates.tool import AggregateTool
from drf_mcp.dispatch.shown_rows import find_obstacle
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.features import CallState
from drf_mcp.introspection.types import Parameter
from drf_mcp.json_text import OBJECTS
from drf_mcp.option_types.spelling import ask_nearest
from drf_mcp.outcomes import Outcome, Problem
from drf_mcp.settings import override_language
from drf_mcp.tools.arguments.call import QUERY, Argument
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.server_tools import RedirectingTool
from drf_mcp.tools.tool import Tool

TOOL, FILTERS = "tool", "filters"
OWN = ("group_by", "metrics", "order", "limit")


@dataclass(frozen=True, eq=False)
class UndeclaredAggregateTool(AggregateTool):
    """Figures of a list that declares none, made of the fields that the list shows its caller.

    No list of tools has this tool. A caller who sees the list may ask for its figures.

    Attributes:
        listing: the tool of the list.
    """

    listing: Tool | None = None

    @classmethod
    def of(cls, listing: Tool) -> UndeclaredAggregateTool:
        # The archive finds the tool of a result by its name, which is that of the list.
        options = replace(listing.options, **DEFAULTS, archive=False)
        # Texts that others wrote make no groups, so the figures need no label.
        untrusted = {path.partition(".")[0] for path in listing.options.untrusted}
        endpoint = AggregateEndpoint.of_list(
            listing.endpoint, tuple(untrusted), UndeclaredAggregateList
        )
        return cls(listing.name, endpoint, options, listing.related, listing=listing)

    @property
    def fields(self) -> Sequence[str]:
        return ()

    def matches(self, patterns: Iterable[str]) -> bool:
        assert self.listing is not None
        return self.listing.matches(patterns)

    @property
    def arguments_by_name(self) -> Mapping[str, Argument]:
        # A rule about the list may name an argument that figures do not take, such as its page.
        assert self.listing is not None
        return {**self.listing.arguments_by_name, **super().arguments_by_name}

    @cached_property
    def own_arguments(self) -> Mapping[str, Argument]:
        """The arguments for groups and metrics, by their names in the shared tool."""
        known = self.arguments.arguments
        return {
            argument.parameter.name: argument
            for argument in known
            if argument.location == QUERY and argument.parameter.name in OWN
        }

    def find_own(self, filters: Mapping[str, Any]) -> list[str]:
        """Return the names of these arguments that were sent among the filters."""
        own = self.own_arguments.values()
        sent = (argument for argument, _value in self.arguments.get_values(filters))
        return sorted(argument.name for argument in sent if argument in own)

    def get_parameters(self) -> Iterator[Parameter]:
        # Unlisted, so that no refusal names them among the filters.
        return (replace(parameter, listed=False) for parameter in super().get_parameters())

    def get_keys(self, name: str, keys: Iterable[str], words: str) -> Parameter:
        # The keys depend on the caller, whom the view knows.
        schema = {"type": "array", "items": {"type": "string"}, "description": words}
        return Parameter(name, schema, multiple="comma")


@dataclass(frozen=True, eq=False)
class SharedTool(RedirectingTool):
    """The figures of the lists that declare none.

    Attributes:
        figures: the tools that answer, by the names of the lists.
    """

    naming = TOOL
    holder = FILTERS
    further = OWN
    figures: Mapping[str, UndeclaredAggregateTool] = field(default_factory=dict)

    @classmethod
    def of_lists(cls, tools: Mapping[str, Tool]) -> SharedTool | None:
        plain = [tool for tool in tools.values() if is_plain(tool)]
        if not plain:
            return None
        # Made once, in the project's own language, whichever caller asks first.
        with override_language():
            made = cls.make(SHARED, **get_options(plain[0].name))
        return replace(made, figures={t.name: UndeclaredAggregateTool.of(t) for t in plain})

    def redirect(self, call: CallState) -> None:
        sent, problems = self.read(call.arguments)
        name: Any = sent.get(TOOL)
        filters = sent.get(FILTERS) or {}
        figures = self.figures.get(name) if isinstance(name, str) else None
        if name is not None and figures is None:
            problems.insert(0, self.refuse_name(str(name), call))
        doubled = figures.find_own(filters) if figures and isinstance(filters, OBJECTS) else []
        if doubled:
            message = _("%(names)s cannot be filters.") % {"names": ", ".join(doubled)}
            advice = _("Send them outside of the filters.")
            problems.append(Problem("invalid", message, f"/{FILTERS}", remediation=advice))
        if problems or figures is None:
            call.tool = self.refusing(*problems)
            return
        own = [(each, sent[n]) for n, each in figures.own_arguments.items() if n in sent]
        call.redirect(name, figures.arguments.change(filters, own), figures)
        locate_before = call.locate
        call.locate = lambda outcome: locate_before(locate(outcome, figures))

    def refuse_name(self, name: str, call: CallState) -> Problem:
        assert call.context is not None
        offered = call.server.tools_capability.get_offered_tools(call.context)
        pointer = f"/{TOOL}"
        if name in offered and Visibility(call.caller).sees_any([offered[name]]):
            own = find_figures(offered[name].endpoint, offered.values())
            if own is not None:
                message = _("The figures of this list have a tool of their own.")
                advice = _("Call %(tool)s.") % {"tool": own.name}
                return Problem("unknown_tool", message, pointer, name, own.name, advice)
            if offered[name].reads:
                message = _("This is no list whose rows can be counted for you.")
                advice = _("Call %(tool)s itself.") % {"tool": name}
                return Problem("unknown_tool", message, pointer, name, None, advice)
        seen = {each: figures.listing for each, figures in self.figures.items() if each in offered}
        nearest = Visibility(call.caller).find_nearest(name, seen)
        message = _("No list has this name.")
        advice = ask_nearest(nearest) or _("Send the name of a tool that lists rows.")
        accepted = ", ".join(nearest) or None
        return Problem("unknown_tool", message, pointer, name[:128], accepted, advice)


def get_options(example: str) -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    groups = _(
        "Fields of its rows: choices, keys, names of other objects, true or false; of dates "
        "NAME_day, NAME_week, NAME_month, NAME_quarter, NAME_year"
    )
    metrics = _("count, sum_NAME, avg_NAME, min_NAME, max_NAME, distinct_NAME")
    properties = {
        TOOL: {"type": "string", "description": _("Such as %(tool)s") % {"tool": example}},
        FILTERS: {"type": "object", "description": _("Arguments of that tool")},
        "group_by": {**texts, "description": groups},
        "metrics": {**texts, "description": metrics},
        "order": {"type": "string", "enum": list(ORDERS)},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_GROUPS},
    }
    return {
        "title": _("Figures of a list"),
        "description": _("Count, sum up or group all rows of a list, without paging."),
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": [TOOL],
            "additionalProperties": False,
        },
        "output_schema": None,
    }


def find_figures(listing: Endpoint, tools: Iterable[Tool]) -> AggregateTool | None:
    """Return the tool that has the figures of one list, None if no tool has them."""
    own = (tool for tool in tools if isinstance(tool, AggregateTool))
    same = (tool for tool in own if tool.endpoint.route.path == listing.route.path)
    return next(same, None)


def is_plain(tool: Tool) -> bool:
    """Return whether a list declares no figures, and has no code that figures would skip."""
    if type(tool) is not Tool or tool.options.aggregate:
        return False
    return tool.endpoint.standard_action == "list" and not find_obstacle(tool.endpoint)


def locate(outcome: Outcome, figures: UndeclaredAggregateTool) -> Outcome:
    """Return the outcome of a list's figures in terms of the arguments of the shared tool."""
    failure = outcome.failure
    if failure is None or not failure.problems:
        return outcome

    def find_pointer(pointer: str) -> str:
        for name, argument in figures.own_arguments.items():
            if f"{pointer}/".startswith(f"{argument.pointer}/"):
                return f"/{name}{pointer.removeprefix(argument.pointer)}"
        return f"/{FILTERS}{pointer}"

    problems = []
    for problem in failure.problems:
        advice = problem.remediation
        if problem.code == "unknown" and problem.accepted in figures.own_arguments:
            # It is the nearest name, and no filter.
            advice = " ".join([advice, _("Send it outside of the filters.")])
        pointer = find_pointer(problem.pointer)
        problems.append(replace(problem, pointer=pointer, remediation=advice))
    return outcome.changed(failure=failure.with_problems(tuple(problems)))
