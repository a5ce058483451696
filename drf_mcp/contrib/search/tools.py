"""The three tools that stand for those which are not listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.contrib.search import READ, SEARCH
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import Slot, find_call
from drf_mcp.json_text import OBJECTS, parse_json_text
from drf_mcp.outcomes import Problem
from drf_mcp.settings import override_language
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused
from drf_mcp.tools.server_tools import RedirectingTool, ServerTool, ServerToolView
from drf_mcp.tools.tool import Tool

INNER = "arguments"
# The tools that a call of tools_search searches.
INDEX: Slot[Any] = Slot()


class SearchArguments(serializers.Serializer[Any]):
    query = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)
    definitions = serializers.BooleanField(default=False)
    offset = serializers.IntegerField(min_value=0, default=0)


class ToolSearchView(ServerToolView):
    """Answers with the tools that a query is about, or with the groups of all tools."""

    def get(self, request: Request) -> Response:
        arguments = SearchArguments(data=request.query_params)
        arguments.is_valid(raise_exception=True)
        asked = arguments.validated_data
        call = find_call(request)
        index = INDEX.get(call)
        assert call is not None
        assert index is not None
        index.client_limit = call.client_limit
        if not asked["query"]:
            return Response(index.list_groups(asked["offset"]))
        answer = index.search(asked["query"], asked["offset"], asked["definitions"])
        if "groups" in answer:
            advice = _(
                "No tool has a word of the query. These are the nearest, and the groups that there"
                " are: try other words."
            )
            call_context(request).suggest(advice)
        return Response(answer)


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
            types = {"query": "string", "definitions": "boolean", "offset": "integer"}
            return SearchTool.make(
                name,
                ToolSearchView,
                title=_("Find tools"),
                description=_("Find tools by words or names. No query: all groups."),
                query={each: {"type": types[each]} for each in types},
            )
        title, description = _("Run a tool that changes something"), _("Run a tool that writes.")
        if name == READ:
            title, description = _("Run a tool that reads"), _("Run a tool that reads.")
        input_schema = {
            "type": "object",
            "properties": {"name": {"type": "string"}, INNER: {"type": "object"}},
            "required": ["name"],
            "additionalProperties": False,
        }
        return RunTool.make(
            name,
            method="GET" if name == READ else "POST",
            title=title,
            description=description,
            input_schema=input_schema,
            output_schema=None,
            **options,
        )
