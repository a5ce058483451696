from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.urls import NoReverseMatch, reverse

from drf_mcp.management.base import DEFAULT_ORIGIN, MCPCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.settings import mcp_settings
from drf_mcp.transports.client_configs import (
    BASIC,
    ServerCommand,
    find_challenge,
    find_placeholder,
    issue_authorization,
    write_authorization,
)

TO_ENCODE = (
    "The header holds the base64 of USERNAME:PASSWORD: give both with --token USERNAME:PASSWORD."
)
NO_TOKEN_READ = (
    "No authentication class of the endpoint reads an Authorization header. Add one, such as REST "
    "framework's TokenAuthentication, to AUTHENTICATION_CLASSES in DRF_MCP."
)
NO_TOKEN_MADE = (
    "No authentication class of the endpoint makes tokens. Add drf_mcp.contrib.tokens to "
    "INSTALLED_APPS and drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication to "
    "DEFAULT_AUTHENTICATION_CLASSES, before the classes that you have: docs/agent_tokens.md."
)


class ClientCommand(MCPCommand):
    """The base class of the commands that tell an MCP client how to reach the endpoint."""

    def add_client_arguments(self, add: Callable[..., Any]) -> None:
        add("--token", help="the token to send; for Basic authentication USERNAME:PASSWORD")
        add("--url", help=f"the URL of the endpoint, by default on {DEFAULT_ORIGIN}")
        self.add_endpoint_argument(add)

    def find_server_name(self) -> str:
        return self.endpoint.make_server().name or str(mcp_settings.SERVER_NAME)

    def find_url(self, options: dict[str, Any]) -> str:
        if options["url"]:
            return str(options["url"])
        if options["endpoint"]:
            return DEFAULT_ORIGIN + self.endpoint.path
        try:
            return DEFAULT_ORIGIN + reverse("drf_mcp:endpoint")
        except NoReverseMatch:
            return f"{DEFAULT_ORIGIN}/mcp"

    def find_authorization(self, token: str | None) -> str:
        scheme = self.find_scheme()
        if token is None and scheme == BASIC:
            self.stderr.write(f"# {TO_ENCODE}", self.style.WARNING)
        return write_authorization(token or find_placeholder(scheme), scheme)

    def issue_authorization(self, username: str, title: str) -> str:
        user = self.find_user(username)
        if made := issue_authorization(user, title, self.endpoint.authentication_classes):
            return made
        raise UsageError(NO_TOKEN_MADE)

    def warn_if_no_token_is_read(self) -> None:
        if find_challenge(self.endpoint.authentication_classes) is None:
            self.stderr.write(f"# {NO_TOKEN_READ}", self.style.WARNING)

    def make_server_command(self, options: dict[str, Any]) -> ServerCommand:
        # The client starts mcp_stdio as this process was started.
        arguments = [sys.executable, str(Path(sys.argv[0]).resolve()), "mcp_stdio"]
        if options["endpoint"]:
            arguments += ["--endpoint", self.endpoint.path]
        environment = {}
        if settings_module := os.environ.get("DJANGO_SETTINGS_MODULE"):
            environment["DJANGO_SETTINGS_MODULE"] = settings_module
        if options["username"]:
            arguments += ["--as", options["username"]]
        else:
            environment["MCP_TOKEN"] = self.find_authorization(options["token"]).split(None, 1)[1]
        return ServerCommand(arguments, environment)
