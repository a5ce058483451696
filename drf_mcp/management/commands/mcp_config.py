"""``manage.py mcp_config``: what to paste into an MCP client."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.urls import NoReverseMatch, reverse

from drf_mcp.operators.client_configs import (
    PLACEHOLDER,
    TITLES,
    ClientConfiguration,
    ServerCommand,
    authorization_scheme,
    configurations,
    stdio_configurations,
)
from drf_mcp.settings import mcp_settings

DEFAULT_ORIGIN = "http://127.0.0.1:8000"


class Command(BaseCommand):
    """Prints the configuration on stdout and where it goes on stderr."""

    help = "Print the configuration of an MCP client for this project's server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("client", choices=[*TITLES, "all"], help="the client")
        parser.add_argument("--name", help="what the client shall call the server: SERVER_NAME")
        parser.add_argument("--token", default=PLACEHOLDER, help="the token to send")
        parser.add_argument("--url", help=f"the endpoint; its path alone is at {DEFAULT_ORIGIN}")
        parser.add_argument(
            "--stdio", action="store_true", help="let the client start mcp_stdio itself"
        )
        parser.add_argument(
            "--user", help="with --stdio: the user to act as, by USERNAME_FIELD, for no token"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the configuration."""
        server_name = options["name"] or mcp_settings.SERVER_NAME
        if options["stdio"]:
            found = stdio_configurations(server_command(options), server_name)
        else:
            header = f"{authorization_scheme()} {options['token']}"
            found = configurations(options["url"] or default_url(), server_name, header)
        client = options["client"]
        for configuration in found.values() if client == "all" else [found[client]]:
            self.tell(configuration)

    def tell(self, configuration: ClientConfiguration) -> None:
        """Print one configuration."""
        place = f"# {configuration.title}: {configuration.place}"
        self.stderr.write(place, self.style.NOTICE)
        self.stdout.write(configuration.text)


def default_url() -> str:
    """Return the endpoint's URL on a development server."""
    try:
        return DEFAULT_ORIGIN + reverse("drf_mcp:endpoint")
    except NoReverseMatch:
        return f"{DEFAULT_ORIGIN}/mcp"


def server_command(options: dict[str, Any]) -> ServerCommand:
    """Return how to start ``mcp_stdio`` as this process was started."""
    arguments = [sys.executable, str(Path(sys.argv[0]).resolve()), "mcp_stdio"]
    environment = {}
    if settings_module := os.environ.get("DJANGO_SETTINGS_MODULE"):
        environment["DJANGO_SETTINGS_MODULE"] = settings_module
    if options["user"]:
        arguments += ["--user", options["user"]]
    else:
        environment["MCP_TOKEN"] = options["token"]
    return ServerCommand(arguments, environment)
