from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.urls import NoReverseMatch, reverse

from drf_mcp.management.base import DEFAULT_ORIGIN, MCPCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.settings import mcp_settings
from drf_mcp.transports.client_configs import (
    BASIC,
    CLIENTS,
    ClientConfig,
    ServerCommand,
    find_challenge,
    find_placeholder,
    issue_authorization,
    write_authorization,
)

ALL = "all"
TO_ENCODE = (
    "The header holds the base64 of USERNAME:PASSWORD: give both with --token USERNAME:PASSWORD."
)
SIGNS_IN = "The client opens a browser to sign in (OAuth). With --token it sends a token instead."
KEEP_OUT = "The file may hold a token: keep it out of version control."
NO_TOKEN_READ = (
    "No authentication class of the endpoint reads an Authorization header. Add one, such as REST "
    "framework's TokenAuthentication, to AUTHENTICATION_CLASSES in DRF_MCP."
)


class Command(MCPCommand):
    """Prints the configuration on stdout and its place on stderr."""

    help = "Print the configuration of an MCP client for this project's server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("client", help=f"the client: {', '.join(CLIENTS)}, or {ALL}")
        add("--name", help="the name of the server in the client; by default the endpoint's name")
        add("--token", help="the token to send; for Basic authentication USERNAME:PASSWORD")
        add("--url", help=f"the URL of the endpoint, by default on {DEFAULT_ORIGIN}")
        self.add_endpoint_argument(add)
        add("--json", action="store_true", help="print titles, places and texts as JSON")
        add(
            "--write",
            action="store_true",
            help="add the server to the client's file in this folder",
        )
        add("--stdio", action="store_true", help="let the client start mcp_stdio itself")
        add("--create-token", action="store_true", help="make a token for the user of --as")
        self.add_user_argument(
            add,
            "the user, by USERNAME_FIELD: with --create-token whose token is made, with --stdio "
            "who calls without a token",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        client = options["client"]
        if client not in CLIENTS and client != ALL:
            raise UsageError.unknown("client", client, [*CLIENTS, ALL], complete=True)
        self.endpoint = self.find_endpoint(options)
        chosen = CLIENTS.values() if client == ALL else [CLIENTS[client]]
        target = self._find_target(options)
        own = self.endpoint.make_server().name or mcp_settings.SERVER_NAME
        server_name = options["name"] or own
        configs = [config_class(server_name, **target) for config_class in chosen]
        if options["json"]:
            written = [{"client": c.title, "place": c.place, "text": c.text} for c in configs]
            self.stdout.write(self.format_json(written))
            return
        for config in configs:
            self.stderr.write(f"# {config.title}: {config.place}", self.style.NOTICE)
            if not options["write"]:
                self.stdout.write(config.text)
            elif fault := self._write_file(config):
                self.stdout.write(config.text)
                raise UsageError(f"Nothing was written: {fault}")
            else:
                self.stderr.write(f"# Written. {KEEP_OUT}" if config.headers else "# Written.")

    def _write_file(self, config: ClientConfig) -> str:
        """Add a server to a client's file in this folder; return why not, "" when written."""
        path, entry = Path(config.file), config.entry
        if not config.file:
            return f"{config.title} has no JSON file in a project."
        try:
            known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            servers = known.setdefault(config.key, {})
            is_other = servers.setdefault(config.server_name, entry) != entry
        except (ValueError, AttributeError, TypeError):
            return f"{path} is no plain JSON object."
        if is_other:
            return f"{path} has another server {config.server_name!r}. Choose a --name."
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return ""

    def _find_target(self, options: dict[str, Any]) -> dict[str, Any]:
        if options["stdio"]:
            return {"command": self._make_server_command(options)}
        if options["username"] and not options["create_token"]:
            text = "--as goes with --stdio or --create-token. Else --token says who is calling."
            raise UsageError(text)
        if find_challenge(self.endpoint.authentication_classes) is None:
            self.stderr.write(f"# {NO_TOKEN_READ}", self.style.WARNING)
        url = options["url"] or self._find_url(options)
        if options["create_token"]:
            return {"url": url, "authorization": self._issue_authorization(options)}
        if self.endpoint.authorization_servers and not options["token"]:
            self.stderr.write(f"# {SIGNS_IN}", self.style.NOTICE)
            return {"url": url}
        return {"url": url, "authorization": self._find_authorization(options["token"])}

    def _issue_authorization(self, options: dict[str, Any]) -> str:
        if options["username"] is None:
            raise UsageError("Name who calls with --as.")
        user, client = self.find_user(options["username"]), options["client"]
        title = CLIENTS[client].title if client in CLIENTS else client
        if made := issue_authorization(user, title, self.endpoint.authentication_classes):
            return made
        text = (
            "No authentication class of the endpoint makes tokens. Add drf_mcp.contrib.tokens to "
            "INSTALLED_APPS and drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication to "
            "DEFAULT_AUTHENTICATION_CLASSES, before the classes that you have: "
            "docs/agent_tokens.md."
        )
        raise UsageError(text)

    def _find_authorization(self, token: str | None) -> str:
        scheme = self.find_scheme()
        if token is None and scheme == BASIC:
            self.stderr.write(f"# {TO_ENCODE}", self.style.WARNING)
        return write_authorization(token or find_placeholder(scheme), scheme)

    def _find_url(self, options: dict[str, Any]) -> str:
        if options["endpoint"]:
            return DEFAULT_ORIGIN + self.endpoint.path
        try:
            return DEFAULT_ORIGIN + reverse("drf_mcp:endpoint")
        except NoReverseMatch:
            return f"{DEFAULT_ORIGIN}/mcp"

    def _make_server_command(self, options: dict[str, Any]) -> ServerCommand:
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
            environment["MCP_TOKEN"] = self._find_authorization(options["token"]).split(None, 1)[1]
        return ServerCommand(arguments, environment)
