from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.db import close_old_connections
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access.authentication import Caller
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.console import SignalledInput, take_streams
from drf_mcp.management.screen import UsageError
from drf_mcp.transports.client_configs import write_authorization
from drf_mcp.transports.stdio import StdioConnection, StdioServer, Stopped

TOKEN_VARIABLE = "MCP_TOKEN"


class Command(MCPCommand):
    """Speaks MCP on stdin and stdout until stdin ends or a signal ends the process.

    Exits with 0 then, with 2 if it could not start.
    """

    help = "Serve MCP on stdin and stdout, for clients that start the server themselves."
    # An unreachable database must not keep the server from starting.
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_user_argument(
            parser.add_argument,
            f"the user to act as, by USERNAME_FIELD; without it, {TOKEN_VARIABLE} decides",
        )
        self.add_endpoint_argument(parser.add_argument)

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Taken before anything else, such as a system check, can print.
        self.streams = take_streams()
        self.stdout._out = self.stderr._out  # type: ignore[attr-defined]
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = endpoint = self.find_endpoint(options)
        username, authorization = options["username"], self._find_authorization(options)
        self.find_user(username)
        close_old_connections()

        def make_caller() -> Caller:
            try:
                return endpoint.make_caller(self.find_user(username), authorization)
            except UsageError as exc:  # The user was deleted meanwhile.
                raise AuthenticationFailed(str(exc)) from exc

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        connection = StdioConnection(endpoint.make_server(), make_caller, self.write)
        stream = SignalledInput.wrap(self.streams[0])
        StdioServer(connection).serve(stream)

    def _find_authorization(self, options: dict[str, Any]) -> str | None:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
        if not token:
            return None
        if options["username"]:
            raise UsageError(f"Give --as or {TOKEN_VARIABLE}, not both.")
        # The variable may hold the whole header.
        return token if " " in token else write_authorization(token, self.find_scheme())

    def write(self, body: bytes) -> None:
        self.streams[1].write(body + b"\n")
        self.streams[1].flush()

    def stop(self, signum: int, frame: Any) -> NoReturn:
        # A second signal ends the process at once.
        signal.signal(signum, signal.SIG_DFL)
        raise Stopped
