"""The tool of an aggregate: the filters of the list, and arguments for groups and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from django.core.checks import CheckMessage, Error

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.aggregates.figures import (
    AMOUNTS,
    COUNT,
    ORDERS,
    Column,
    Columns,
    NotAColumn,
    Terms,
)
from drf_mcp.contrib.aggregates.listing import (
    DEFAULT_GROUPS,
    DEFAULTS,
    MOST_GROUPS,
    AggregateEndpoint,
    find_key_writer,
)
from drf_mcp.describers import ClosedSet, EndpointSchema, Finding, Inspection, Parameter, Schema
from drf_mcp.dispatch.list_probe import find_list_fault
from drf_mcp.errors import find_nearest, join_alternatives, join_names, refuse_many
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import QUERY, Endpoint, Tool, ViewOptions
from drf_mcp.features import Call, ToolSource
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.parsers import Renaming
from drf_mcp.naming import Subject, speak

UNKNOWN_REMEDY = (
    "Let the view make them where getattr(self, 'swagger_fake_view', False) is true: then there is"
    " no caller."
)
REMEDY = "Correct aggregate=, or the serializer. See docs/aggregates.md."
GROUP: Schema = {"type": "object", "additionalProperties": True}
OUTPUT: Schema = {
    "type": "object",
    "properties": {
        "groups": {"type": "array", "items": GROUP},
        "group_count": {"type": "integer"},
        "has_more": {"type": "boolean"},
        "total": GROUP,
        "time_zone": {"type": "string"},
    },
}


@dataclass(frozen=True)
class Keys(ClosedSet):
    """The keys that an argument takes, which ``write`` writes as the answer has them."""

    names: tuple[str, ...]
    write: Callable[[str], str] = str
    separator = ","

    @property
    def choices(self) -> tuple[str, ...]:
        return self.names

    def takes(self, text: str) -> bool:
        return self.write(text) in self.names


class Declaration:
    """The fields that a project declared, without a caller: what the tool's schema can name."""

    def __init__(self, inspection: Inspection, names: Sequence[str]) -> None:
        self.inspection = inspection
        self.names = names

    @cached_property
    def shown(self) -> list[Columns]:
        # A serializer may show some fields to staff alone, or need a caller to be made at all.
        return self._ask_both(lambda view: Columns(view, self.inspection.model))

    def _ask_both(self, step: Callable[[Any], Any]) -> list[Any]:
        """Return what a step gives for the view without a caller, and as a superuser sees it."""
        inspection = self.inspection
        found = (
            attempt(lambda: step(inspection.view), None),
            attempt(lambda: step(inspection.privileged.view), None),
        )
        return [each for each in found if each is not None]

    @cached_property
    def columns(self) -> list[Column]:
        found = () if self._view_faults else map(self._find_column, self.names)
        return [column for column in found if isinstance(column, Column)]

    @cached_property
    def terms(self) -> Terms:
        return Terms(self.columns)

    @property
    def is_known(self) -> bool:
        return self.inspection.model is not None and bool(self.shown)

    @property
    def findings(self) -> list[Finding]:
        place = self.inspection.place
        if not self.is_known:
            unknown = "The model and serializer of the list are not known without a caller."
            return [Finding(place, unknown, UNKNOWN_REMEDY)]
        return [Finding(place, f"{fault}.", REMEDY) for fault in self.find_faults()]

    def find_faults(self) -> Iterator[str]:
        """Yield what is wrong with the declaration, as sentences without their full stops."""
        for name in self.names if self.is_known else ():
            reason = self._find_column(name)
            if isinstance(reason, str):
                known = dict.fromkeys(known for columns in self.shown for known in columns.names)
                nearest = "" if name in known else next(iter(find_nearest(name, known)), "")
                asked = f"; did you mean {nearest!r}?" if nearest else ""
                yield f"aggregate= names {name!r}, but {reason}{asked}"
        for key in self.terms.duplicate_keys:
            yield f"aggregate= makes two things of the name {key!r}: take one of the fields away"
        yield from self._view_faults

    @cached_property
    def _view_faults(self) -> list[str]:
        faults = self._ask_both(lambda view: find_list_fault(view, view.get_queryset()))
        return [fault.rstrip(".") for fault in dict.fromkeys(faults) if fault]

    def _find_column(self, name: str) -> Column | str:
        """Return the column of a field, or why there is none."""
        reason = ""
        for columns in self.shown:
            try:
                return columns.find(name)
            except NotAColumn as exc:
                reason = reason or str(exc)
        return reason


@dataclass(frozen=True, eq=False)
class AggregateTool(Tool):
    """Figures of a list's rows.

    Every caller has the same schema; the view refuses the fields that the list hides from a caller.
    """

    @cached_property
    def declaration(self) -> Declaration:
        inspection = Inspection(self.view, self.endpoint.method)
        return Declaration(inspection, self.fields)

    @property
    def fields(self) -> Sequence[str]:
        every = cast(AggregateEndpoint, self.endpoint).fields
        return [name for name in every if not self.omission.covers((name,))]

    def describe(self) -> EndpointSchema:
        listing = super().describe()
        # Groups have an order of their own.
        filters = tuple(parameter for parameter in listing.query if parameter.role != "sort")
        own = tuple(self.get_parameters())
        names = {parameter.name for parameter in own}
        text = "The filter {!r} of the list has the name of an argument of {}, which replaces it."
        shadowed = [
            Finding(self.endpoint.place, text.format(p.name, self.name), REMEDY)
            for p in filters
            if p.name in names
        ]
        return replace(
            listing,
            query=(*own, *(p for p in filters if p.name not in names)),
            output=Renaming(self.view).render_schema(OUTPUT),
            findings=(*listing.findings, *shadowed, *self.declaration.findings),
        )

    def get_parameters(self) -> Iterator[Parameter]:
        terms = self.declaration.terms
        groups = "What makes groups; none for the figures of all rows."
        if any(column.kind.is_date for column in self.declaration.columns):
            groups += " Dates in the project's time zone."
        yield self._get_keys("group_by", terms.groupings, groups)
        yield self._get_keys("metrics", terms.metrics, f"What to work out; {COUNT} by default.")
        words = f"By the first metric or by the group; minus is descending. Default: {ORDERS[0]}."
        order = {"type": "string", "enum": list(ORDERS), "description": words}
        yield Parameter("order", order, closed=Keys(ORDERS))
        limits = {"minimum": 1, "maximum": MOST_GROUPS, "default": DEFAULT_GROUPS}
        yield Parameter("limit", {"type": "integer", **limits, "description": "Of groups."})

    def _get_keys(self, name: str, keys: Iterable[str], words: str) -> Parameter:
        write = find_key_writer(self.view)
        known = tuple(map(write, keys))
        items: Schema = {"type": "string"}
        schema: Schema = {"type": "array", "items": items, "description": words}
        if not self.declaration.is_known:
            return Parameter(name, schema, multiple="comma")
        if known:
            items["enum"] = list(known)
        return Parameter(name, schema, multiple="comma", closed=Keys(known, write))

    def bind(self, arguments: Any, caller: Any = None) -> Call:
        sent = self.arguments.find_values(arguments) if isinstance(arguments, Mapping) else ()
        for argument, value in sent:
            if argument.location == QUERY and argument.parameter.name in ("group_by", "metrics"):
                items = value if isinstance(value, list) else [value]
                count = sum(str(item).count(",") + 1 for item in items)
                refuse_many("MAX_FIGURES", count, argument.pointer)
        return super().bind(arguments, caller)

    @property
    def takes_fields(self) -> bool:
        # The argument `metrics` selects.
        return False

    def find_unknown_fields(self, paths: Iterable[str]) -> Iterator[str]:
        return (path for path in paths if path not in self.fields)

    def compose_title(self) -> str:
        return f"Figures of {self.rows}"

    def compose_description(self) -> str:
        columns = self.declaration.columns
        amounts = [column for column in columns if column.kind.metrics[:4] == AMOUNTS]
        numbers = join_names([speak(column.name) for column in amounts])
        dates = [speak(column.name) for column in columns if column.kind.is_date]
        groups = [speak(c.name) for c in columns if not c.kind.is_date and c not in amounts]
        if dates:
            parts = f"day, week, month, quarter or year of {join_alternatives(dates)}"
            groups.insert(0, parts)
        text = f"Count {self.rows}"
        text += f", or sum up, average or compare {numbers}" if numbers else ""
        text += f", by {join_names(groups)}." if groups else "."
        listing = self.related.by_path.get(self.endpoint.route.path.rstrip("/"))
        return f"{text} Filters as of {listing}." if listing else text

    @property
    def rows(self) -> str:
        subject = Subject(self.endpoint, self.view)
        return "rows" if subject.model is None else subject.of_owner(subject.plural)


# --- Checks ---------------------------------------------------------------------------------


class AggregateSource(ToolSource):
    def get_choices(self, exposure: Any, choice: Any) -> Iterator[Any]:
        endpoint, fields = choice.endpoint, tuple(dict.fromkeys(choice.options.aggregate))
        if not fields or endpoint.standard_action != "list":
            return
        options = exposure.merge_view_options(endpoint, "aggregate")
        yield replace(
            choice,
            endpoint=AggregateEndpoint.of_list(endpoint, fields),
            options=replace(options, **DEFAULTS),
            named=False,
            tool_class=AggregateTool,
        )


@register_check()
def check_aggregates(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        if isinstance(tool, AggregateTool):
            for fault in tool.declaration.find_faults():
                yield Error(f"{name} at {tool.endpoint.place}: {fault}.", REMEDY, id="drf_mcp.E007")
    for place in _find_places_without_list(project):
        yield Error(
            f"aggregate= of {place} has no list that is exposed there.",
            hint="Expose the list, or take aggregate= away.",
            id="drf_mcp.E007",
        )


def _find_places_without_list(project: Project) -> Iterator[str]:
    every = project.rest_endpoints
    for view_class in dict.fromkeys(endpoint.view_class for endpoint in every):
        own = [endpoint for endpoint in every if endpoint.view_class is view_class]
        options = vars(view_class).get("mcp_viewset")
        decorated = [e for e in own if any(each.aggregate for each in e.decorations)]
        if (options is not None and _lacks_list(options, own)) or (
            decorated and not any(endpoint.standard_action == "list" for endpoint in decorated)
        ):
            yield locate_view(view_class)
    for registration in project.registry.registrations:
        if _lacks_list(registration.options, filter(registration.is_for, every)):
            own_class = registration.view_class
            yield locate_view(own_class) if own_class is not None else "a registered router"


def _lacks_list(options: ViewOptions, endpoints: Iterable[Endpoint]) -> bool:
    return bool(options.tool.aggregate) and not any(
        endpoint.standard_action == "list" and options.selects("list") for endpoint in endpoints
    )
