from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from django.conf import settings

from drf_mcp.management.base import ClientCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.routes.endpoint import find_endpoints
from drf_mcp.transports.client_configs import (
    BASIC,
    CLIENTS,
    ClientConfig,
    find_challenge,
    find_issuers,
    find_placeholder,
    issue_authorization,
    write_authorization,
)
from drf_mcp.urls.cards import ServerCard

ALL, REGISTRY = "all", "registry"
REGISTRY_FILE = "server.json"
PUBLISHED = f"{REGISTRY_FILE}, which mcp-publisher publishes to the MCP Registry"
NOT_PUBLIC = "The registry lists servers on the internet: give --url https://HOST/PATH."
SIGNS_IN = (
    "The client opens a browser to sign in at %s (OAuth). With --token it sends a token instead."
)
FROM_ISSUER = (
    "The endpoint takes access tokens of %(issuer)s. Its token endpoint is named at "
    "%(issuer)s/.well-known/openid-configuration."
)
FROM_PASSWORD = (
    "The endpoint takes access tokens of simplejwt, which POST %s makes of a name and a password. "
    "They end soon: docs/agent_tokens.md has keys that do not."
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
KEEP_OUT = "The file may hold a token: keep it out of version control."


class Command(ClientCommand):
    """Prints the configuration on stdout and its place on stderr."""

    help = "Print the configuration of an MCP client for this project's server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add(
            "client",
            help=f"the client: {', '.join(CLIENTS)}, {ALL}, or {REGISTRY} for the MCP Registry",
        )
        add("--name", help="the name of the server in the client; by default the endpoint's name")
        add("--token", help="the token to send; for Basic authentication USERNAME:PASSWORD")
        self.add_address_arguments(add)
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
        known = [*CLIENTS, ALL, REGISTRY]
        if client not in known:
            raise UsageError.unknown("client", client, known, complete=True)
        self.endpoint = self.find_endpoint(options)
        if client == REGISTRY:
            return self._describe_for_registry(options)
        chosen = CLIENTS.values() if client == ALL else [CLIENTS[client]]
        target = self._find_target(options)
        server_name = options["name"] or self.find_server_name()
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

    def _describe_for_registry(self, options: dict[str, Any]) -> None:
        url, path = self.find_url(options), Path(REGISTRY_FILE)
        if not url.startswith("https:"):
            raise UsageError(NOT_PUBLIC)
        signs_in = self.endpoint.authorization_servers
        scheme = None if signs_in else find_challenge(self.endpoint.authentication_classes)
        document = ServerCard(self.endpoint.make_server(), url, scheme).registry_file
        text = self.format_json(document)
        self.stderr.write(f"# {PUBLISHED}", self.style.NOTICE)
        if not options["write"]:
            self.stdout.write(text)
        elif path.exists():
            raise UsageError(f"Nothing was written: {path} exists.")
        else:
            path.write_text(f"{text}\n", encoding="utf-8")
            self.stderr.write("# Written.")

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
        username, token = options["username"], options["token"]
        if options["stdio"]:
            names = {"DJANGO_SETTINGS_MODULE"} & os.environ.keys()
            environment = {name: os.environ[name] for name in names}
            if not username:
                environment["MCP_TOKEN"] = self._find_authorization(token).split(None, 1)[1]
            return {"command": self.make_server_command(options, environment)}
        if username and not options["create_token"]:
            text = "--as goes with --stdio or --create-token. Else --token says who is calling."
            raise UsageError(text)
        url, classes = self.find_url(options), self.endpoint.authentication_classes
        if find_challenge(classes) is None:
            self.stderr.write(f"# {NO_TOKEN_READ}", self.style.WARNING)
        if options["create_token"]:
            return {"url": url, "authorization": self._issue_authorization(options)}
        servers = self.endpoint.authorization_servers
        if servers and not token:
            issuers = " or ".join(urljoin(url, server) for server in servers)
            self.stderr.write(f"# {SIGNS_IN % issuers}", self.style.NOTICE)
            return {"url": url}
        if not token:
            for issuer in find_issuers(classes):
                self.stderr.write(f"# {FROM_ISSUER % {'issuer': issuer}}", self.style.NOTICE)
            if path := _find_token_path(classes):
                self.stderr.write(f"# {FROM_PASSWORD % path}", self.style.NOTICE)
        return {"url": url, "authorization": self._find_authorization(token)}

    def _find_authorization(self, token: str | None) -> str:
        scheme = self.find_scheme()
        if token is None and scheme == BASIC:
            self.stderr.write(f"# {TO_ENCODE}", self.style.WARNING)
        return write_authorization(token or find_placeholder(scheme), scheme)

    def _issue_authorization(self, options: dict[str, Any]) -> str:
        client, user = options["client"], self.find_user(options["username"])
        if user is None:
            raise UsageError("Name who calls with --as.")
        title = CLIENTS[client].title if client in CLIENTS else client
        if made := issue_authorization(user, title, self.endpoint.authentication_classes):
            return made
        raise UsageError(NO_TOKEN_MADE)


def _find_token_path(classes: Sequence[Any]) -> str:
    """Return the path where simplejwt makes tokens that the classes take, "" for none."""
    if not any(_is_named(each, "rest_framework_simplejwt.authentication") for each in classes):
        return ""
    views = (e for e in find_endpoints(settings.ROOT_URLCONF) if e.method == "POST")
    making = (
        e for e in views if _is_named(e.view_class, "rest_framework_simplejwt.views", "TokenObtain")
    )
    return next((each.route.path for each in making), "")


def _is_named(found: type, module: str, name: str = "") -> bool:
    return any(b.__module__ == module and b.__name__.startswith(name) for b in found.__mro__)
