"""The tool of an aggregate: the list's filters, and what to work out of the rows they leave."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.introspection.types import EndpointSchema, Parameter, Schema
from drf_mcp.spelling import join_alternatives
from drf_mcp.tools.aggregates.columns import AMOUNTS
from drf_mcp.tools.aggregates.declaration import REMEDY, Declaration
from drf_mcp.tools.aggregates.endpoint import AggregateEndpoint
from drf_mcp.tools.aggregates.figures import ORDERS
from drf_mcp.tools.aggregates.listing import DEFAULT_GROUPS, MOST_GROUPS, NOT_SHOWN
from drf_mcp.tools.aggregates.terms import COUNT
from drf_mcp.tools.arguments.call import Call
from drf_mcp.tools.descriptions import join_names, speak
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool

# In the query, so that no cache takes the answer for that of the list.
MARK = "mcp_aggregate=1"
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
    """The keys of what there is to ask for, and the declared fields that cannot be."""

    names: tuple[str, ...]
    lost: tuple[str, ...] = ()
    separator = ","

    @property
    def choices(self) -> tuple[str, ...]:
        return self.names

    def takes(self, text: str) -> bool:
        return text in self.names

    def get_message(self, text: str) -> str:
        if not any(name in text for name in self.lost):
            return super().get_message(text)
        names = ", ".join(self.names) or pgettext("accepted names", "none")
        return str(NOT_SHOWN).format(input=text, names=names)


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
                _(
                    "The filter %(filter)r of the list has the name of an argument of %(tool)s, "
                    "which has no such filter therefore."
                )
                % {"filter": parameter.name, "tool": self.name},
                _(REMEDY),
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
        groups = _("What makes groups; none for the figures of all rows.")
        if self.has_dates:
            groups += " " + _("Dates in the project's time zone.")
        yield self.get_keys("group_by", terms.groupings, groups)
        metrics = _("What to work out; %(default)s by default.") % {"default": COUNT}
        yield self.get_keys("metrics", terms.metrics, metrics)
        words = _(
            "By the first metric or by the group; minus is descending. Default: %(default)s."
        ) % {"default": ORDERS[0]}
        order = {"type": "string", "enum": list(ORDERS), "description": words}
        yield Parameter("order", order, closed=Keys(ORDERS))
        limits = {"minimum": 1, "maximum": MOST_GROUPS, "default": DEFAULT_GROUPS}
        limit = {"type": "integer", **limits, "description": _("Of groups.")}
        yield Parameter("limit", limit)

    def get_keys(self, name: str, keys: Iterable[str], words: str) -> Parameter:
        known = tuple(keys)
        schema = {"type": "array", "items": {"type": "string"}, "description": words}
        if not self.declaration.is_known:
            return Parameter(name, schema, multiple="comma")
        if known:
            schema["items"] = {"type": "string", "enum": list(known)}
        shown = {column.name for column in self.declaration.columns}
        lost = tuple(name for name in self.declaration.names if name not in shown)
        return Parameter(name, schema, multiple="comma", closed=Keys(known, lost))

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
        return _("Figures of %(rows)s") % {"rows": self.rows}

    def compose_description(self) -> str:
        return f"{self.describe_figures()} {self.describe_rows()}".strip()

    @property
    def rows(self) -> str:
        subject = Subject(self.endpoint, self.view)
        return _("rows") if subject.model is None else subject.of_owner(subject.plural)

    def describe_figures(self) -> str:
        columns = self.declaration.columns
        amounts = [column for column in columns if column.kind.metrics[:4] == AMOUNTS]
        numbers = [speak(column.name) for column in amounts]
        dates = [speak(column.name) for column in columns if column.kind.is_date]
        groups = [
            *([self.describe_dates(dates)] if dates else ()),
            *(speak(c.name) for c in columns if not c.kind.is_date and c not in amounts),
        ]
        text = {
            (False, False): _("Count %(rows)s."),
            (False, True): _("Count %(rows)s, in all or by %(groups)s."),
            (True, False): _("Count %(rows)s, or sum up, average or compare %(numbers)s."),
            (True, True): _(
                "Count %(rows)s, or sum up, average or compare %(numbers)s, in all or by "
                "%(groups)s."
            ),
        }[bool(numbers), bool(groups)]
        names = {"numbers": join_names(numbers), "groups": join_names(groups)}
        return text % {"rows": self.rows, **names}

    def describe_dates(self, dates: Iterable[str]) -> str:
        # Translators: the names are those of dates, such as "paid at".
        return _("day, week, month, quarter or year of %(names)s") % {
            "names": join_alternatives(dates)
        }

    def describe_rows(self) -> str:
        listing = self.finders.by_path.get(self.endpoint.route.path.rstrip("/"))
        text = _("Of the rows that %(tool)s gives with the same filters.")
        return text % {"tool": listing} if listing else ""

    def bind(self, arguments: Any) -> Call:
        call = super().bind(arguments)
        return replace(call, query_string="&".join(filter(None, (call.query_string, MARK))))
