from __future__ import annotations

import os
import shutil
import signal
import subprocess  # nosec B404: starts the Inspector
import sys
from argparse import REMAINDER, ArgumentParser
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.db import connections

from drf_mcp.management.base import ClientCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.transports.client_configs import (
    ClientConfig,
    find_challenge,
    issue_authorization,
    revoke_authorization,
)

# The options below are those of the second major version.
PACKAGE = "@modelcontextprotocol/inspector@2"
# A token that a killed process could not revoke.
LIFETIME = timedelta(hours=8)
NO_NODE = "The Inspector needs Node.js 22.19 or newer, with npx: https://nodejs.org."
BY_STDIO = "The endpoint makes no tokens: the Inspector starts mcp_stdio as %(user)s."
ANONYMOUS = "Calls have no credential. Name a user with --as."


class Inspector(ClientConfig):
    name, title, place = "inspector", "MCP Inspector", "mcp.json"

    @property
    def entry(self) -> dict[str, Any]:
        kind = "streamable-http" if self.command is None else "stdio"
        # The Inspector opens with the oldest revision by default.
        return {"type": kind, "protocolEra": "auto", **super().entry}


class Command(ClientCommand):
    """Runs the MCP Inspector until it ends, and exits with its exit code.

    The token is in a file that only its owner reads, not among the arguments of a process.
    """

    help = "Start the MCP Inspector on the endpoint of the running server. Needs Node.js."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        self.add_user_argument(
            add, "the user who calls, by USERNAME_FIELD, with a token that ends with the Inspector"
        )
        self.add_address_arguments(add)
        add(
            "--stdio",
            action="store_true",
            help="let the Inspector start mcp_stdio, without a server or a token",
        )
        add(
            "--cli",
            nargs=REMAINDER,
            metavar="...",
            help="run the Inspector's command line with the options that follow",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = self.find_endpoint(options)
        npx = shutil.which("npx")
        if npx is None:
            raise UsageError(NO_NODE)
        config = Inspector(self.find_server_name(), **self._find_target(options))
        words = [npx, "--yes", PACKAGE, *([] if options["cli"] is None else ["--cli"])]
        try:
            with TemporaryDirectory(prefix="drf_mcp_inspector_") as folder:
                file = Path(folder, "mcp.json")
                file.touch(mode=0o600)
                file.write_text(config.text, encoding="utf-8")
                code = self._run([*words, "--config", str(file), *(options["cli"] or [])])
        finally:
            if options["username"] and config.headers:
                classes = self.endpoint.authentication_classes
                revoke_authorization(config.headers["Authorization"], classes)
        sys.exit(code)

    def _find_target(self, options: dict[str, Any]) -> dict[str, Any]:
        username, classes = options["username"], self.endpoint.authentication_classes
        if username is None and not options["stdio"]:
            if not self.endpoint.authorization_servers and find_challenge(classes):
                self.stderr.write(f"# {ANONYMOUS}", self.style.WARNING)
            return {"url": self.find_url(options)}
        if not options["stdio"]:
            user = self.find_user(username)
            if made := issue_authorization(user, Inspector.title, classes, LIFETIME):
                return {"url": self.find_url(options), "authorization": made}
            self.stderr.write(f"# {BY_STDIO % {'user': username}}", self.style.NOTICE)
        # The Inspector passes on hardly any variable of its own environment.
        return {"command": self.make_server_command(options, os.environ)}

    def _run(self, words: list[str]) -> int:
        # Servers close connections that are idle for long.
        connections.close_all()
        # npx passes no signal on, so the Inspector is stopped with its group.
        process = subprocess.Popen(words, process_group=0)  # nosec B603: npx as PATH has it

        def stop(*_: Any) -> None:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGTERM)
            else:
                process.terminate()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        code = process.wait()
        return code if code >= 0 else 128 - code
