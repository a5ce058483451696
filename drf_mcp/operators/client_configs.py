"""Paste-ready configuration of the widely used MCP clients, for HTTP and for stdio.

What each client reads changes now and then; the formats are those of 2026-11.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from drf_mcp.access.authentication import resolve_authentication_classes

PLACEHOLDER = "YOUR_TOKEN"
DEFAULT_SCHEME = "Bearer"
TITLES = {
    "claude-code": "Claude Code",
    "claude-desktop": "Claude Desktop",
    "cursor": "Cursor",
    "vscode": "VS Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
}
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


@dataclass(frozen=True)
class ClientConfiguration:
    """What to paste into one client, and where.

    Attributes:
        title: the client's name for people.
        language: what the text is written in: ``console``, ``json`` or ``toml``.
        text: the configuration.
        place: where it goes, such as ``.cursor/mcp.json``.
    """

    title: str
    language: str
    text: str
    place: str


@dataclass(frozen=True)
class ServerCommand:
    """How a client starts a server of its own.

    Attributes:
        arguments: the program and its arguments, absolute paths.
        environment: the environment variables to set.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def entry(self) -> dict[str, Any]:
        """The members that most clients read."""
        entry: dict[str, Any] = {"command": self.arguments[0], "args": list(self.arguments[1:])}
        return {**entry, "env": dict(self.environment)} if self.environment else entry


def configurations(
    url: str, server_name: str, token_header: str | None = f"{DEFAULT_SCHEME} {PLACEHOLDER}"
) -> dict[str, ClientConfiguration]:
    """Return the configuration of each client for an endpoint, by the names in `TITLES`.

    Args:
        url: the endpoint.
        server_name: what the client shall call it.
        token_header: the value of the Authorization header, None to send none.
    """
    headers = {} if token_header is None else {"headers": {"Authorization": token_header}}
    remote = {"url": url, **headers}
    typed = {"type": "http", **remote}
    return built(
        claude_code(server_name, ["--transport", "http", server_name, url], token_header),
        in_json(server_name, remote_bridge(url, token_header).entry),
        in_json(server_name, remote),
        in_json(server_name, typed, "servers"),
        codex(server_name, {"url": url}, "http_headers", headers.get("headers", {})),
        in_json(server_name, {"httpUrl": url, **headers}),
    )


def stdio_configurations(
    command: ServerCommand, server_name: str
) -> dict[str, ClientConfiguration]:
    """Return the configuration of each client that makes it start the server itself.

    Args:
        command: how to start ``manage.py mcp_stdio``.
        server_name: what the client shall call it.
    """
    variables = [f"--env={name}={value}" for name, value in command.environment.items()]
    entry = command.entry
    local = {"command": entry["command"], "args": entry["args"]}
    return built(
        claude_code(server_name, [server_name, *variables, "--", *command.arguments], None),
        in_json(server_name, entry),
        in_json(server_name, entry),
        in_json(server_name, {"type": "stdio", **entry}, "servers"),
        codex(server_name, local, "env", command.environment),
        in_json(server_name, entry),
    )


def built(*texts: str) -> dict[str, ClientConfiguration]:
    """Return configurations of these texts, which stand in the order of `TITLES`."""
    forms = [
        ("console", "a terminal"),
        ("json", "claude_desktop_config.json (Settings, Developer, Edit Config)"),
        ("json", ".cursor/mcp.json in the project, or ~/.cursor/mcp.json"),
        ("json", ".vscode/mcp.json in the workspace"),
        ("toml", "~/.codex/config.toml"),
        ("json", "~/.gemini/settings.json, or .gemini/settings.json in the project"),
    ]
    return {
        name: ClientConfiguration(title, language, text, place)
        for (name, title), (language, place), text in zip(TITLES.items(), forms, texts, strict=True)
    }


def claude_code(server_name: str, arguments: Sequence[str], token_header: str | None) -> str:
    """Return the command that adds a server to Claude Code."""
    header = [] if token_header is None else ["--header", f"Authorization: {token_header}"]
    return shlex.join(["claude", "mcp", "add", *arguments, *header])


def remote_bridge(url: str, token_header: str | None) -> ServerCommand:
    """Return the program that connects a client which starts its servers to a remote one.

    The header's value goes by the environment: Claude Desktop breaks arguments at spaces.
    """
    arguments = ["npx", "-y", "mcp-remote", url]
    if token_header is None:
        return ServerCommand(arguments)
    header = ["--header", "Authorization:${AUTHORIZATION}"]
    return ServerCommand([*arguments, *header], {"AUTHORIZATION": token_header})


def in_json(server_name: str, entry: Mapping[str, Any], key: str = "mcpServers") -> str:
    """Return a server's entry in a JSON file."""
    return json.dumps({key: {server_name: entry}}, indent=2, ensure_ascii=False)


def codex(
    server_name: str, entry: Mapping[str, Any], table: str, members: Mapping[str, str]
) -> str:
    """Return a server's table in Codex' TOML file, with an inline table in it if not empty."""
    lines = [f"[mcp_servers.{toml_key(server_name)}]"]
    lines += [f"{name} = {toml_value(value)}" for name, value in entry.items()]
    if members:
        inline = ", ".join(f"{toml_key(n)} = {toml_value(v)}" for n, v in members.items())
        lines.append(f"{table} = {{ {inline} }}")
    return "\n".join(lines)


def toml_key(name: str) -> str:
    """Return a name as a TOML key, quoted where it has to be."""
    return name if BARE_KEY.match(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a string or a list of strings in TOML; both are written as in JSON."""
    return json.dumps(value)


def authorization_scheme() -> str:
    """Return the scheme of the Authorization header that the endpoint asks for."""
    request = Request(HttpRequest())
    challenges = (c().authenticate_header(request) for c in resolve_authentication_classes())
    return next((str(c).split()[0] for c in challenges if c), DEFAULT_SCHEME)
