"""Configuration of the widely used MCP clients, for HTTP and for stdio.

These are the formats of 2026-11.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, TokenAuthentication
from rest_framework.request import Request

from drf_mcp.access.authentication import resolve_authentication_classes

Classes: TypeAlias = Sequence[type[BaseAuthentication]]
DEFAULT_SCHEME = "Bearer"
BASIC = "Basic"
PLACEHOLDER = "YOUR_TOKEN"
# Basic authentication sends the base64 of USERNAME:PASSWORD (RFC 7617).
BASIC_PLACEHOLDER = "BASE64_OF_USERNAME:PASSWORD"


@dataclass(frozen=True)
class ServerCommand:
    """How a client starts a server of its own, by absolute paths."""

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"command": self.arguments[0], "args": list(self.arguments[1:])}
        return {**entry, "env": dict(self.environment)} if self.environment else entry


class ClientConfig:
    """The configuration of one client, by default an entry of a JSON file.

    The client starts a server itself where a command is given in place of a URL.
    """

    # As `mcp_config` takes it, and for people.
    name: str
    title: str
    # The file that holds the configuration.
    place: str
    # The JSON file in a project, "" for none.
    file = ""
    # "console", "json" or "toml".
    language = "json"
    # The member of the JSON file that holds the servers.
    key = "mcpServers"
    # The members of the entry that hold the address and the headers.
    url_key = "url"
    headers_key = "headers"
    # Whether the entry says how the server is reached.
    names_type = False
    # What the link opens, where that is more than the client.
    host = ""
    # The link that opens the client with the endpoint filled in, "" for none.
    link = ""

    def __init__(
        self,
        server_name: str,
        *,
        url: str = "",
        authorization: str | None = None,
        command: ServerCommand | None = None,
    ) -> None:
        self.server_name = server_name
        self.url = url
        self.headers = {} if authorization is None else {"Authorization": authorization}
        self.command = command

    @property
    def entry(self) -> dict[str, Any]:
        kind = {"type": "http" if self.command is None else "stdio"} if self.names_type else {}
        if self.command is not None:
            return {**kind, **self.command.entry}
        headers = {self.headers_key: self.headers} if self.headers else {}
        return {**kind, self.url_key: self.url, **headers}

    @property
    def text(self) -> str:
        servers = {self.key: {self.server_name: self.entry}}
        return json.dumps(servers, indent=2, ensure_ascii=False)


class ClaudeCode(ClientConfig):
    name, title, language = "claude-code", "Claude Code", "console"
    place = "a terminal"

    @property
    def text(self) -> str:
        if self.command is None:
            words = ["--transport", "http", self.server_name, self.url]
            for item in self.headers.items():
                words += ["--header", ": ".join(item)]
        else:
            variables = [f"--env={n}={value}" for n, value in self.command.environment.items()]
            words = [self.server_name, *variables, "--", *self.command.arguments]
        return shlex.join(["claude", "mcp", "add", *words])


class ClaudeDesktop(ClientConfig):
    name, title, host = "claude-desktop", "Claude Desktop", "Claude"
    place = "claude_desktop_config.json (Settings, Developer, Edit Config)"

    @property
    def entry(self) -> dict[str, Any]:
        if self.command is not None:
            return self.command.entry
        # It only starts servers, so a program connects it to the endpoint. The header's value
        # goes by the environment: Claude Desktop breaks arguments at spaces.
        arguments, environment = ["npx", "-y", "mcp-remote", self.url], {}
        for name, value in self.headers.items():
            environment[name.upper()] = value
            arguments += ["--header", f"{name}:${{{name.upper()}}}"]
        return ServerCommand(arguments, environment).entry

    @property
    def link(self) -> str:  # type: ignore[override]
        # A connector of Claude signs in by OAuth or not at all, and is called from the internet:
        # claude.com/docs/connectors/building/directory-vs-custom
        if self.headers or not self.url.startswith("https:"):
            return ""
        names = {"connectorName": self.server_name, "connectorUrl": self.url}
        query = urlencode({"modal": "add-custom-connector", **names})
        return f"https://claude.ai/customize/connectors?{query}"


class Cursor(ClientConfig):
    name, title = "cursor", "Cursor"
    place = ".cursor/mcp.json in the project, or ~/.cursor/mcp.json"
    file = ".cursor/mcp.json"

    @property
    def link(self) -> str:  # type: ignore[override]
        # cursor.com/docs/mcp/install-links
        entry = base64.b64encode(json.dumps(self.entry).encode()).decode()
        query = urlencode({"name": self.server_name, "config": entry})
        return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"


class VSCode(ClientConfig):
    name, title = "vscode", "VS Code"
    place = ".vscode/mcp.json in the workspace"
    file = ".vscode/mcp.json"
    key, names_type = "servers", True

    @property
    def link(self) -> str:  # type: ignore[override]
        # code.visualstudio.com/api/extension-guides/ai/mcp, MCP URL handler
        entry = {"name": self.server_name, **self.entry}
        return f"vscode:mcp/install?{quote(json.dumps(entry), safe='')}"


class Codex(ClientConfig):
    name, title, place, language = "codex", "Codex", "~/.codex/config.toml", "toml"
    headers_key = "http_headers"

    @property
    def text(self) -> str:
        def quote_key(name: str) -> str:
            return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)

        lines = [f"[mcp_servers.{quote_key(self.server_name)}]"]
        for name, value in self.entry.items():
            # Strings and lists of strings are the same in TOML as in JSON.
            text = json.dumps(value)
            if isinstance(value, Mapping):
                pairs = (f"{quote_key(n)} = {json.dumps(v)}" for n, v in value.items())
                text = f"{{ {', '.join(pairs)} }}"
            lines.append(f"{name} = {text}")
        return "\n".join(lines)


class Gemini(ClientConfig):
    name, title = "gemini", "Gemini CLI"
    place = "~/.gemini/settings.json, or .gemini/settings.json in the project"
    file = ".gemini/settings.json"
    url_key = "httpUrl"


class ProjectFile(ClientConfig):
    name, title = "project", "The project's own file, for Claude Code and Copilot CLI"
    place, file, names_type = ".mcp.json", ".mcp.json", True


class Windsurf(ClientConfig):
    name, title, place = "windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json"
    url_key = "serverUrl"


class Zed(ClientConfig):
    name, title, place = "zed", "Zed", "~/.config/zed/settings.json, or .zed/settings.json"
    file, key = ".zed/settings.json", "context_servers"


class OpenCode(ClientConfig):
    name, title, place = "opencode", "opencode", "opencode.json in the project"
    file, key = "opencode.json", "mcp"

    @property
    def entry(self) -> dict[str, Any]:
        if self.command is None:
            return {"type": "remote", **super().entry}
        environment = {"environment": dict(self.command.environment)}
        words = {"type": "local", "command": list(self.command.arguments)}
        return {**words, **(environment if self.command.environment else {})}


CLIENTS: dict[str, type[ClientConfig]] = {
    client.name: client
    for client in (
        ClaudeCode,
        ClaudeDesktop,
        Cursor,
        VSCode,
        Codex,
        Gemini,
        Windsurf,
        Zed,
        OpenCode,
        ProjectFile,
    )
}


def find_challenge(classes: Classes | None = None) -> str | None:
    """Return the scheme of the Authorization header that the endpoint asks for, None for none."""
    request = Request(HttpRequest())
    own = resolve_authentication_classes(classes)
    challenges = (authenticator().authenticate_header(request) for authenticator in own)
    return next((str(c).split()[0] for c in challenges if c), None)


def find_issuers(classes: Classes) -> list[str]:
    """Return the issuers of the JSON Web Tokens that authentication classes take."""
    # By the attribute of `JWTAuthentication`, whose module needs PyJWT.
    issuers = (getattr(each, "issuer", "") for each in classes)
    return [issuer.rstrip("/") for issuer in issuers if isinstance(issuer, str) and issuer]


def write_authorization(token: str, scheme: str) -> str:
    """Return the value of the Authorization header; Basic takes ``USERNAME:PASSWORD`` as well."""
    if scheme == BASIC and ":" in token and token != BASIC_PLACEHOLDER:
        token = base64.b64encode(token.encode()).decode()
    return f"{scheme} {token}"


def issue_authorization(
    user: Any, name: str, classes: Classes | None = None, lifetime: timedelta | None = None
) -> str | None:
    """Return the value of an Authorization header with a new credential, None if none can be made.

    An authentication class of the endpoint makes it by a class method
    ``issue_authorization(user, name, lifetime)``, or it is a token of REST framework's
    TokenAuthentication, which has no end.

    Args:
        name: what the credential is for, such as the title of a client.
        classes: the authentication classes of the endpoint; None for the settings'.
        lifetime: of the credential; None for what the class gives by default.
    """
    classes = resolve_authentication_classes(classes)
    for own in (each for each in classes if hasattr(each, "issue_authorization")):
        return str(own.issue_authorization(user, name, lifetime))
    for stock in (each for each in classes if issubclass(each, TokenAuthentication)):
        token, _made = stock().get_model().objects.get_or_create(user=user)  # type: ignore[attr-defined]
        return f"{stock.keyword} {token.key}"
    return None


def revoke_authorization(authorization: str, classes: Classes | None = None) -> None:
    """Have the class that made a credential end it, by a class method of this name, if it can."""
    for own in resolve_authentication_classes(classes):
        if hasattr(own, "revoke_authorization"):
            own.revoke_authorization(authorization)


def find_placeholder(scheme: str) -> str:
    return BASIC_PLACEHOLDER if scheme == BASIC else PLACEHOLDER
