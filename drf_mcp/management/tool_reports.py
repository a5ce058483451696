"""What ``mcp_tools`` prints: the list of tools, one tool whole, and the reports of apps."""

from __future__ import annotations

import json
import re
import shlex
from argparse import REMAINDER, SUPPRESS, ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from django.utils.module_loading import import_string
from rest_framework.views import APIView

from drf_mcp.access.authentication import find_view_classes
from drf_mcp.exceptions import attempt
from drf_mcp.features import Example
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.source.members import find_operands
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.option_types.installed import features, find_apps
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation.tokens import estimate_tokens

COMMAND = "python manage.py mcp_tools"
# A lock file has the English words.
CHOSEN_BY_VIEW = "chosen by the view"
MODULES = re.compile(r"[\w<>]+\.")


def name_permissions(tool: Tool) -> list[str]:
    """Return the dotted names of the permissions that a tool's view asks.

    A `get_permissions` of the view's own is asked for this tool. As it may answer other callers
    otherwise, the last name says that the view chooses.
    """
    view = tool.view
    if type(view).get_permissions is not APIView.get_permissions:
        chosen = attempt(view.get_permissions, [])
        return [*map(name_permission, chosen), CHOSEN_BY_VIEW]
    classes = find_view_classes(tool.endpoint.route.callback, "permission_classes")
    return [CHOSEN_BY_VIEW] if classes is None else [*map(name_permission, classes)]


def name_permission(permission: Any) -> str:
    # Of a composition there are several names: OR(a.b.C, d.E).
    if names := ", ".join(map(name_permission, find_operands(permission))):
        operator = getattr(permission, "operator_class", type(permission))
        return f"{operator.__name__}({names})"
    kind = permission if isinstance(permission, type) else type(permission)
    return f"{kind.__module__}.{kind.__qualname__}"


class ToolList:
    """Lists tools by view, shows one tool whole, or shows how to expose a first tool."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.style = screen.style

    def list_tools(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        for place, group in groupby(
            tools.values(), key=lambda t: locate_view(t.endpoint.view_class)
        ):
            yield self.style.MIGRATE_HEADING(place)
            tools_of_view = list(group)
            names = max(len(tool.name) for tool in tools_of_view) + 2
            room = self.screen.width - 2 - names
            listed = [(tool, self._write_request(tool, room)) for tool in tools_of_view]
            requests = max(len(request) for _, request in listed) + 2
            for tool, request in listed:
                hints, name = tool.annotations, f"{tool.name:<{names}}"
                changing = self.style.ERROR if hints["destructiveHint"] else self.style.WARNING
                colour = self.style.SUCCESS if hints["readOnlyHint"] else changing
                arguments = self.screen.fit(self._write_arguments(tool), room - requests)
                shown = f"{colour(f'{request:<{requests}}')}{arguments}"
                yield f"  {self.style.MIGRATE_LABEL(name)}{shown}".rstrip()
            yield ""
        count = Screen.count_noun(len(tools), "tool")
        yield from self.screen.wrap(f"{count}. Show one whole: {COMMAND} show NAME")

    def show_exposing(self, endpoints: Sequence[Endpoint]) -> Iterator[str]:
        views = list(dict.fromkeys(endpoint.view_class for endpoint in endpoints))
        if not views:
            yield "No tools: the URLconf has no REST framework endpoints."
            remedy = "Add a router's urls or a view to the urlpatterns first."
            yield from self.screen.wrap(remedy)
            return
        count = Screen.count_noun(len(endpoints), "endpoint")
        counts = f"{count} of {Screen.count_noun(len(views), 'view')}"
        yield f"No tools yet. The URLconf has REST framework's {counts}."
        if mcp_settings.EXPOSE == "urlconf":
            yield "INCLUDE, EXCLUDE or EXPOSURE_CLASS in DRF_MCP leaves all of them out."
        else:
            # The view with the most endpoints is one that agents have use for, not the API's root.
            counted = Counter(endpoint.view_class for endpoint in endpoints)
            module, _dot, name = locate_view(counted.most_common(1)[0][0]).rpartition(".")
            yield ""
            yield self.style.MIGRATE_HEADING("Expose all of them, in the settings")
            yield '  DRF_MCP = {"EXPOSE": "urlconf"}'
            yield ""
            yield self.style.MIGRATE_HEADING("Or choose views, in the file mcp.py of an app")
            yield "  from drf_mcp import registry"
            yield f"  from {module} import {name}"
            yield ""
            yield f"  registry.register({name})"

    def _write_request(self, tool: Tool, width: int = 1000) -> str:
        # Paths of an API differ at the end.
        path, room = tool.endpoint.route.path, width - 7
        path = path if len(path) <= room else f"…{path[len(path) - room + 1 :]}"
        return f"{tool.endpoint.method:<7}{path}"

    def _write_arguments(self, tool: Tool) -> str:
        schema, fields = tool.input_schema, tool.arguments.fields
        # Nearly every tool that reads takes `fields`.
        names = [n for n in schema.get("properties", {}) if fields is None or n != fields.name]
        required = schema.get("required", ())
        return ", ".join(f"{name}*" if name in required else name for name in names)

    def show_tool(self, tool: Tool, definition: bytes, user: Any) -> Iterator[str]:
        yield self.style.MIGRATE_HEADING(f"{tool.name}: {tool.title}")
        yield f"  {self._write_request(tool)}"
        yield f"  {tool.endpoint.place}"
        permissions = name_permissions(tool)
        names = (p if p == CHOSEN_BY_VIEW else MODULES.sub("", p) for p in permissions)
        yield f"  permissions: {', '.join(names) or 'none'}"
        size, tokens = len(definition), estimate_tokens(definition.decode())
        yield f"  size: {size} bytes, about {tokens} tokens"
        yield ""
        for paragraph in tool.description.split("\n\n"):
            yield from self.screen.wrap(paragraph)
            yield ""
        yield json.dumps(json.loads(definition)["inputSchema"], indent=2, ensure_ascii=False)
        yield ""
        hints = tool.annotations
        written = (f"{name}={str(on).lower()}" for name, on in hints.items())
        yield from self.screen.wrap(", ".join(written))
        yield ""
        heading = "Example" if hints["readOnlyHint"] else "Example, which changes data"
        yield self.style.MIGRATE_LABEL(heading)
        yield f"  {write_call(tool, find_example_call(tool, user))}"
        for finding in tool.findings:
            yield self.style.WARNING(f"! {finding.place}: {finding.message} {finding.remedy}")


def find_example_call(tool: Tool, user: Any) -> Example:
    for find_example in features.reviews["find_example"]:
        if found := find_example(tool, user):
            return found  # type: ignore[no-any-return]
    return Example(tool.hints.call, None if user is None else str(user.get_username()))


def write_call(tool: Tool, example: Example) -> str:
    """Return the command line of a call, quoted for a shell."""
    words, arguments = ["python", "manage.py", "mcp_call", tool.name], example.arguments
    if any(isinstance(value, (dict, list)) for value in arguments.values()) or any(
        "." in name or "=" in name for name in arguments
    ):
        words.append(json.dumps(arguments, ensure_ascii=False, default=str))
    else:
        words += [f"{name}={_print_value(value)}" for name, value in arguments.items()]
    name = "USERNAME" if example.username is None else example.username
    if name:
        words += [f"--as={name}"] if name.startswith("-") else ["--as", name]
    return shlex.join(words)


def _print_value(value: Any) -> str:
    if isinstance(value, str):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return value
    # mcp_call reads a value that is JSON as JSON: a string of digits needs quotes.
    return json.dumps(value, ensure_ascii=False, default=str)


# --- Reports of apps ----------------------------------------------------------------------------


class ToolReport:
    """A report of ``mcp_tools``, run by a verb that `Feature.tool_reports` names.

    Attributes:
        help: what ``--help`` says of the verb.
        is_about_tools: whether the report is about the tools that the options choose; in a
            project without any, the command then shows how to expose the first.
    """

    help: ClassVar[str] = ""
    is_about_tools: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the verb's own arguments; ``--as``, ``--json`` and ``--endpoint`` are there."""

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        """Return the lines of the report.

        Args:
            command: the running command, with its ``endpoint``, ``format_json()`` and so on.
            options: the options of the command line, with the report's own.
            tools: the tools that the options choose, empty for a report that is not about them.
        """
        raise NotImplementedError


def find_report(verb: str) -> Any:
    """Return the `ToolReport` of a verb.

    Raises:
        UsageError: if its app is not installed.
    """
    if path := features.tool_reports.get(verb):
        return import_string(path)()
    app = find_apps("tool_reports")[verb]
    raise UsageError(f'Add "{app}" to INSTALLED_APPS.')


def add_reports(verbs: Any) -> Iterator[ArgumentParser]:
    """Add the verbs of all reports, and yield the parsers of those whose app is installed.

    Args:
        verbs: what `ArgumentParser.add_subparsers` returns.
    """
    for verb in features.tool_reports:
        report = find_report(verb)
        parser = verbs.add_parser(verb, help=report.help)
        report.add_arguments(parser)
        yield parser
    for verb in find_apps("tool_reports").keys() - features.tool_reports.keys():
        # No help: these verbs only say which app is missing.
        verbs.add_parser(verb).add_argument("rest", nargs=REMAINDER, help=SUPPRESS)
