"""The tool of an aggregate: the list's filters, and what to work out of the rows they leave."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.introspection.types import EndpointSchema, Parameter, Schema
from drf_mcp.tools.aggregates.columns import AMOUNTS
from drf_mcp.tools.aggregates.declaration import REMEDY, Declaration
from drf_mcp.tools.aggregates.endpoint import AggregateEndpoint
from drf_mcp.tools.aggregates.figures import ORDERS
from drf_mcp.tools.aggregates.listing import DEFAULT_GROUPS, MOST_GROUPS
from drf_mcp.tools.aggregates.terms import COUNT
from drf_mcp.tools.arguments.call import Call
from drf_mcp.tools.descriptions import join_names, speak
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool

# In the query, so that no cache takes the answer for that of the list.
MARK = "mcp_aggregate=1"
CALENDAR_WORDS = "day, week, month, quarter or year"
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
    """The keys of what there is to ask for."""

    names: tuple[str, ...]
    separator = ","

    @property
    def choices(self) -> tuple[str, ...]:
        return self.names

    def takes(self, text: str) -> bool:
        return text in self.names


@dataclass(frozen=True, eq=False)
class AggregateTool(Tool):
    """Figures of a list's rows. Its schema is the same for every caller, its choices are not."""

    @functools.cached_property
    def declaration(self) -> Declaration:
        inspection = Inspection(self.view, self.endpoint.method)
        return Declaration(inspection, cast(AggregateEndpoint, self.endpoint).fields)

    def describe(self) -> EndpointSchema:
        listing = super().describe()
        # An order of the rows says nothing of groups.
        filters = tuple(parameter for parameter in listing.query if parameter.role != "sort")
        own = tuple(self.get_parameters())
        names = {parameter.name for parameter in own}
        lost = [
            Finding(
                self.endpoint.place,
                f"The filter {parameter.name!r} of the list has the name of an argument of "
                f"{self.name}, which has no such filter therefore.",
                REMEDY,
            )
            for parameter in filters
            if parameter.name in names
        ]
        return replace(
            listing,
            query=(*own, *(p for p in filters if p.name not in names)),
            output=OUTPUT,
            findings=(*listing.findings, *lost, *self.declaration.findings),
        )

    def get_parameters(self) -> Iterator[Parameter]:
        terms = self.declaration.terms
        zone = " Dates in the project's time zone." if self.has_dates else ""
        groups = f"What makes groups; none for the figures of all rows.{zone}"
        yield self.get_keys("group_by", terms.groupings, groups)
        yield self.get_keys("metrics", terms.metrics, f"What to work out; {COUNT} by default.")
        words = f"By the first metric or by the group; minus is descending. Default: {ORDERS[0]}."
        order = {"type": "string", "enum": list(ORDERS), "description": words}
        yield Parameter("order", order, closed=Keys(ORDERS))
        limits = {"minimum": 1, "maximum": MOST_GROUPS, "default": DEFAULT_GROUPS}
        limit = {"type": "integer", **limits, "description": "Of groups."}
        yield Parameter("limit", limit)

    def get_keys(self, name: str, keys: Iterable[str], words: str) -> Parameter:
        known = tuple(keys)
        schema = {"type": "array", "items": {"type": "string"}, "description": words}
        if not self.declaration.is_known:
            return Parameter(name, schema, multiple="comma")
        if known:
            schema["items"] = {"type": "string", "enum": list(known)}
        return Parameter(name, schema, multiple="comma", closed=Keys(known))

    @property
    def has_dates(self) -> bool:
        return any(column.kind.is_date for column in self.declaration.columns)

    @property
    def selects(self) -> bool:
        # The metrics say which figures the answer has.
        return False

    def find_unanswered(self, paths: Iterable[str]) -> Iterator[str]:
        # Groups hold the values of the fields that make them.
        fields = cast(AggregateEndpoint, self.endpoint).fields
        return (path for path in paths if path not in fields)

    def compose_title(self) -> str:
        return f"Figures of {self.rows}"

    def compose_description(self) -> str:
        return f"{self.describe_figures()} {self.describe_rows()}".strip()

    @property
    def rows(self) -> str:
        subject = Subject(self.endpoint, self.view)
        return f"{subject.plural}{subject.of_owner}" if subject.model is not None else "rows"

    def describe_figures(self) -> str:
        columns = self.declaration.columns
        amounts = [column for column in columns if column.kind.metrics[:4] == AMOUNTS]
        numbers = [speak(column.name) for column in amounts]
        compared = f", or sum up, average or compare {join_names(numbers)}" if numbers else ""
        dates = [speak(column.name) for column in columns if column.kind.is_date]
        groups = [
            *([f"{CALENDAR_WORDS} of {' or '.join(dates)}"] if dates else ()),
            *(speak(c.name) for c in columns if not c.kind.is_date and c not in amounts),
        ]
        by = f", in all or by {join_names(groups)}" if groups else ""
        return f"Count {self.rows}{compared}{by}."

    def describe_rows(self) -> str:
        listing = self.finders.by_path.get(self.endpoint.route.path.rstrip("/"))
        return f"Of the rows that {listing} gives with the same filters." if listing else ""

    def bind(self, arguments: Any) -> Call:
        call = super().bind(arguments)
        return replace(call, query_string="&".join(filter(None, (call.query_string, MARK))))
