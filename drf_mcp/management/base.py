from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.urls import NoReverseMatch, reverse
from django.utils.translation import override
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.error_bodies import find_sentence
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import Refused, UnknownTool
from drf_mcp.management.console import quiet_pipe
from drf_mcp.management.screen import UsageError as UsageError
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings
from drf_mcp.transports.client_configs import DEFAULT_SCHEME, ServerCommand, find_challenge
from drf_mcp.transports.in_process import LocalEndpoint

ANONYMOUS = "anonymous"
DEFAULT_ORIGIN = "http://127.0.0.1:8000"
# The user names among which a mistyped one is looked for.
MAX_USERS = 1000


class MCPCommand(BaseCommand):
    """The base class of the commands of this package.

    Attributes:
        endpoint: the endpoint of ``--endpoint``.
    """

    endpoint: LocalEndpoint

    def execute(self, *args: Any, **options: Any) -> str | None:
        # JSON for programs is in English.
        with override(None) if options.get("json") else nullcontext(), quiet_pipe():
            output = super().execute(*args, **options)
            self.stdout.flush()
            return output

    def add_endpoint_argument(self, add: Callable[..., Any]) -> None:
        add(
            "--endpoint",
            metavar="PATH",
            help="the path of an endpoint with fewer tools, such as /mcp/readonly",
        )

    def add_user_argument(self, add: Callable[..., Any], help: str) -> None:
        add("--as", "--user", metavar="USER", dest="username", help=help)

    def find_endpoint(self, options: Mapping[str, Any]) -> LocalEndpoint:
        path = options["endpoint"]
        try:
            endpoint = LocalEndpoint(path)
            if path:
                endpoint.make_caller()
        except LookupError as exc:
            raise UsageError(f"The URLconf has no MCP endpoint at {path}.") from exc
        except Refused as exc:
            raise UsageError(exc.message) from exc
        return endpoint

    def find_scheme(self) -> str:
        """Return the scheme of the Authorization header that the endpoint asks for."""
        return find_challenge(self.endpoint.authentication_classes) or DEFAULT_SCHEME

    def find_user(self, username: str | None) -> Any:
        if username is None:
            return None
        users: Any = get_user_model()
        try:
            return users._default_manager.get_by_natural_key(username)
        except users.DoesNotExist:
            # A mistyped name mostly has the right first letter.
            field = users.USERNAME_FIELD
            names = users._default_manager.values_list(field, flat=True).order_by(field)
            alike = names.filter(**{f"{field}__istartswith": username[:1]})[:MAX_USERS]
            raise UsageError.unknown("user", username, map(str, alike)) from None

    def find_tool(self, name: str) -> Tool:
        server = self.endpoint.make_server()
        try:
            return server.registry.tool(name, None, server.tool_options)
        except UnknownTool as exc:
            raise UsageError(exc.message) from exc

    def find_tools(self, username: str | None, name: str | None = None) -> Mapping[str, Tool]:
        if name is None:
            tools = self.endpoint.tools
        else:
            tool = self.find_tool(name)
            narrowing = self.endpoint.make_caller().find_narrowing(tool)
            if narrowing is not None:
                reason = narrowing.write_reason(tool)
                raise UsageError(f"{name} is not among the tools: {reason}.")
            tools = {name: tool}
        if username is None:
            return tools
        try:
            visibility = Visibility(
                self.endpoint.make_caller(self.find_user_or_anonymous(username))
            )
        except APIException as exc:
            reason = find_sentence(exc.detail)
            raise UsageError(f"The endpoint does not let {username} in: {reason}") from exc
        offered = (t for t in tools.values() if visibility.caller.find_narrowing(t) is None)
        visible = {tool.name: tool for tool in visibility.of(offered)}
        if name is not None and not visible:
            question = f"mcp_tools why {name} --as {username}"
            raise UsageError(f"{username} does not see {name}. To find out why: {question}")
        return visible

    def find_user_or_anonymous(self, username: str) -> Any:
        try:
            return self.find_user(username)
        except UsageError:
            # A user may have this name.
            if username == ANONYMOUS:
                return None
            raise

    @property
    def width(self) -> int:
        return shutil.get_terminal_size().columns

    def format_json(self, value: Any) -> str:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)

    def write_data(self, value: Any, lines: Iterable[str], options: Mapping[str, Any]) -> None:
        """Write a value as JSON with ``--json``, else its lines."""
        self.stdout.write(self.format_json(value) if options["json"] else "\n".join(lines))


class ClientCommand(MCPCommand):
    """The base class of the commands that tell an MCP client how to reach the endpoint."""

    def add_address_arguments(self, add: Callable[..., Any]) -> None:
        add("--url", help=f"the URL of the endpoint, by default on {DEFAULT_ORIGIN}")
        self.add_endpoint_argument(add)

    def find_server_name(self) -> str:
        return self.endpoint.make_server().name or str(mcp_settings.SERVER_NAME)

    def find_url(self, options: Mapping[str, Any]) -> str:
        if options["url"]:
            return str(options["url"])
        if options["endpoint"]:
            return DEFAULT_ORIGIN + self.endpoint.path
        try:
            return DEFAULT_ORIGIN + reverse("drf_mcp:endpoint")
        except NoReverseMatch:
            return f"{DEFAULT_ORIGIN}/mcp"

    def make_server_command(
        self, options: Mapping[str, Any], environment: Mapping[str, str]
    ) -> ServerCommand:
        # The client starts mcp_stdio as this process was started.
        arguments = [sys.executable, str(Path(sys.argv[0]).resolve()), "mcp_stdio"]
        if options["endpoint"]:
            arguments += ["--endpoint", self.endpoint.path]
        if options["username"]:
            arguments += ["--as", options["username"]]
        return ServerCommand(arguments, environment)


def read_call_arguments(texts: Iterable[str]) -> dict[str, Any]:
    """Return a tool's arguments, given as ``key=value`` and as JSON objects; the later wins.

    A value that is JSON is that value, any other a string; ``a.b=1`` is ``{"a": {"b": 1}}``.
    """
    arguments: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        *parents, last = name.split(".")
        if text.lstrip().startswith("{"):
            try:
                arguments.update(json.loads(text))
            except (ValueError, RecursionError) as exc:
                raise UsageError(f"The arguments are not JSON: {exc}") from exc
        elif equals and last and all(parents):
            place = arguments
            for depth, parent in enumerate(parents, start=1):
                place = place.setdefault(parent, {})
                if not isinstance(place, dict):
                    given = ".".join(parents[:depth])
                    raise UsageError(f"{given} is given twice: as a value, and as an object.")
            try:
                # Python reads NaN and Infinity, which JSON does not have: int() raises.
                place[last] = json.loads(value, parse_constant=int)
            except (ValueError, RecursionError):
                place[last] = value
        else:
            raise UsageError(f"{text[:60]!r} is neither KEY=VALUE nor a JSON object.")
    return arguments
