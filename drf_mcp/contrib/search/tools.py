"""The three tools that stand for those which are not listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.search.views import READ, WRITE, ToolSearchView
from drf_mcp.json_text import OBJECTS, parse_json_text
from drf_mcp.outcomes import Problem
from drf_mcp.settings import override_language
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused
from drf_mcp.tools.server_tools import RedirectingTool, ServerTool
from drf_mcp.tools.tool import Tool

SEARCH = "tools_search"
RUNS = {READ: "GET", WRITE: "POST"}
INNER = "arguments"
RUN_TEXTS = {
    READ: (
        gettext_noop("Run a tool that reads"),
        gettext_noop("Run a tool that reads."),
    ),
    WRITE: (
        gettext_noop("Run a tool that changes something"),
        gettext_noop("Run a tool that writes."),
    ),
}


def get_search_options() -> dict[str, Any]:
    return {
        "title": _("Find tools"),
        "description": _("Find tools by words or names. No query: all groups."),
        "query": {
            "query": {"type": "string"},
            "definitions": {"type": "boolean"},
            "offset": {"type": "integer"},
        },
    }


def get_run_options(name: str) -> dict[str, Any]:
    title, description = RUN_TEXTS[name]
    input_schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            INNER: {"type": "object"},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    return {
        "title": _(title),
        "description": _(description),
        "input_schema": input_schema,
        "output_schema": None,
    }


class SearchTool(ServerTool):
    """Finds tools."""

    selects = False
    is_sliced = True


class RunTool(RedirectingTool):
    """Runs the tool that its arguments name."""

    naming = "name"

    def read(self, arguments: Any) -> tuple[str, Any]:
        """Return the name of the tool to run, and its arguments.

        Raises:
            ArgumentsRefused: where they cannot be read.
        """
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, OBJECTS):
            raise ArgumentsRefused([ArgumentErrors().not_an_object(arguments)])
        # Some clients send an object as a string.
        inner = parse_json_text(arguments.get(INNER), dict)
        if problems := list(self.find_problems(arguments, inner)):
            raise ArgumentsRefused(problems)
        return arguments["name"], inner

    def find_problems(self, arguments: Mapping[str, Any], inner: Any) -> Iterator[Problem]:
        errors = ArgumentErrors(known=("name", INNER), holder=INNER)
        name = arguments.get("name")
        if name is None:
            yield errors.missing_argument("name")
        elif not isinstance(name, str):
            advice = _("Send the name of a tool, as %(search)s gives it.") % {"search": SEARCH}
            yield Problem("invalid", _("Must be a string."), "/name", name, remediation=advice)
        if inner is not None and not isinstance(inner, OBJECTS):
            yield ArgumentErrors(f"/{INNER}").not_an_object(inner)
        yield from errors.find_unknown(arguments)


def make_tool(name: str, **options: Any) -> Tool:
    """Return one of the three tools, with further options."""
    # Made once, in the project's own language, whichever caller asks first.
    with override_language():
        if name == SEARCH:
            return SearchTool.make(name, ToolSearchView, **get_search_options())
        return RunTool.make(name, method=RUNS[name], **get_run_options(name), **options)
