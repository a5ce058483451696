from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.urls import NoReverseMatch, reverse

from drf_mcp.management.base import DEFAULT_ORIGIN, MCPCommand
from drf_mcp.operators.client_configs import (
    CLIENTS,
    PLACEHOLDER,
    ServerCommand,
    find_authorization_scheme,
)
from drf_mcp.settings import mcp_settings


class Command(MCPCommand):
    """Prints the configuration on stdout and where it goes on stderr."""

    help = "Print the configuration of an MCP client for this project's server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("client", choices=[*CLIENTS, "all"], help="the client")
        add("--name", help="what the client shall call the server: SERVER_NAME")
        add("--token", default=PLACEHOLDER, help="the token to send")
        add("--url", help=f"the endpoint; its path alone is at {DEFAULT_ORIGIN}")
        add("--stdio", action="store_true", help="let the client start mcp_stdio itself")
        add("--user", help="with --stdio: the user to act as, by USERNAME_FIELD, for no token")

    def handle(self, *args: Any, **options: Any) -> None:
        target: dict[str, Any]
        if options["stdio"]:
            target = {"command": self.get_server_command(options)}
        else:
            authorization = f"{find_authorization_scheme()} {options['token']}"
            target = {"url": options["url"] or self.get_url(), "authorization": authorization}
        server_name = options["name"] or mcp_settings.SERVER_NAME
        for name, config_class in CLIENTS.items():
            if options["client"] in (name, "all"):
                config = config_class(server_name, **target)
                self.stderr.write(f"# {config.title}: {config.place}", self.style.NOTICE)
                self.stdout.write(config.text)

    def get_url(self) -> str:
        try:
            return DEFAULT_ORIGIN + reverse("drf_mcp:endpoint")
        except NoReverseMatch:
            return f"{DEFAULT_ORIGIN}/mcp"

    def get_server_command(self, options: dict[str, Any]) -> ServerCommand:
        # The client starts mcp_stdio as this process was started.
        arguments = [sys.executable, str(Path(sys.argv[0]).resolve()), "mcp_stdio"]
        environment = {}
        if settings_module := os.environ.get("DJANGO_SETTINGS_MODULE"):
            environment["DJANGO_SETTINGS_MODULE"] = settings_module
        if options["user"]:
            arguments += ["--user", options["user"]]
        else:
            environment["MCP_TOKEN"] = options["token"]
        return ServerCommand(arguments, environment)
