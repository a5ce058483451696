"""What an empty list may be owed to: over HTTP a mistyped filter and no row look alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.codes import Severity
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.text import join_values
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Outcome, Warning
from drf_mcp.tools.arguments.call import PATH, QUERY, Argument, Call
from drf_mcp.tools.arguments.values import find_reversed
from drf_mcp.tools.tool import Tool

EMPTY = "EMPTY_LIST"
CHOOSING = ("filter", "search")


class EmptyList:
    """A list without rows, as the arguments of its call explain it; nothing is asked of a database.

    Args:
        tool: the list tool.
        call: the call that gave no rows.
    """

    def __init__(self, tool: Tool, call: Call) -> None:
        self.tool = tool
        sent = tool.arguments.get_values(call.arguments)
        self.values = [(argument, value) for argument, value in sent if value not in (None, "", [])]

    @classmethod
    def is_outcome(cls, outcome: Outcome) -> bool:
        if outcome.failure is not None:
            return False
        data = outcome.data
        rows = data.get("results") if isinstance(data, OBJECTS) else data
        if not isinstance(rows, list) or rows:
            return False
        # A window past the last row is empty as well.
        return outcome.pagination is None or not outcome.pagination.total_count

    def find_warnings(self) -> Iterator[Warning]:
        sentences = [*self.explain_ranges(), *self.explain_parents()]
        sentences = sentences or [*self.explain_filters()]
        if sentences:
            yield Warning(EMPTY, " ".join(sentences), Severity.INFO)

    def explain_ranges(self) -> Iterator[str]:
        values = [pair for pair in self.values if pair[0].location == QUERY]
        for problem in find_reversed(values):
            sentences = f"{problem.path}: {problem.message} {problem.remediation}"
            yield _("No rows: %(problem)s") % {"problem": sentences}

    def explain_parents(self) -> Iterator[str]:
        names = self.get_names(a for a, _ in self.values if a.location == PATH)
        finder = self.tool.list_tool if names else ""
        if finder:
            yield _(
                "No rows, and nothing says that the object of %(names)s exists: %(tool)s lists"
                " those that exist."
            ) % {"names": names, "tool": finder}
        elif names:
            text = _("No rows, and nothing says that the object of %(names)s exists.")
            yield text % {"names": names}

    def explain_filters(self) -> Iterator[str]:
        arguments = [a for a, _ in self.values if a.location == QUERY]
        chosen = [a for a in arguments if a.whole or a.parameter.role in CHOOSING]
        if chosen:
            yield _(
                "No rows fit %(names)s. Leave out one at a time to see rows, and how their values"
                " are written."
            ) % {"names": self.get_names(chosen)}
        for argument in chosen:
            schema: Any = argument.parameter.schema
            finder = FieldSchema.of(schema.get("items", schema)).meaning.finder
            if finder:
                facts = {"tool": finder, "argument": argument.name}
                yield _("%(tool)s lists what '%(argument)s' takes.") % facts

    def get_names(self, arguments: Iterator[Argument] | list[Argument]) -> str:
        return join_values(f"'{argument.name}'" for argument in arguments)
