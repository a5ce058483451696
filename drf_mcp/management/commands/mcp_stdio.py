"""``manage.py mcp_stdio``: the MCP server for clients that start it themselves."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections
from rest_framework.exceptions import AuthenticationFailed

from drf_mcp.access.authentication import Caller
from drf_mcp.management.streams import interruptible, taken_streams
from drf_mcp.management.users import USAGE, user_of
from drf_mcp.operators.client_configs import authorization_scheme
from drf_mcp.server import Server
from drf_mcp.tools import registry
from drf_mcp.transports.in_process import local_caller
from drf_mcp.transports.stdio import Connection, Stopped, serve

TOKEN_VARIABLE = "MCP_TOKEN"
DEFAULT_THREADS = 4


class Command(BaseCommand):
    """Speaks MCP on stdin and stdout until stdin ends or the process is told to end.

    Exits with 0 then, with 2 if it could not start.
    """

    help = "Serve MCP on stdin and stdout, for clients that start the server themselves."
    # What they find goes to stderr; an unreachable database must not keep it from starting.
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--user",
            help=f"the user to act as, by USERNAME_FIELD; without it, {TOKEN_VARIABLE} decides",
        )
        parser.add_argument(
            "--scheme",
            help=f"the word before the token of {TOKEN_VARIABLE}, such as Bearer; by default "
            "the one that the endpoint's authentication asks for",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=DEFAULT_THREADS,
            help=f"how many calls may run at once ({DEFAULT_THREADS})",
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Take the streams before anything else can print, then run."""
        self.streams = taken_streams()
        self.stdout._out = self.stderr._out  # type: ignore[attr-defined]
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve."""
        authorization = authorization_of(options)
        username = options["user"]
        user_of(username)
        close_old_connections()
        stream, out = self.streams

        def caller() -> Caller:
            try:
                return local_caller(user_of(username), authorization)
            except CommandError as exc:  # deleted meanwhile
                raise AuthenticationFailed(str(exc)) from exc

        def write(body: bytes) -> None:
            out.write(body + b"\n")
            out.flush()

        for ending in (signal.SIGTERM, signal.SIGINT):
            signal.signal(ending, stop)
        connection = Connection(Server(registry), caller, write)
        serve(connection, interruptible(stream), max(options["threads"], 1))


def authorization_of(options: dict[str, Any]) -> str | None:
    """Return the Authorization header, None where a user or nobody is named.

    Raises:
        CommandError: if both a user and a token are given.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        return None
    if options["user"]:
        raise CommandError(f"Give --user or {TOKEN_VARIABLE}, not both.", returncode=USAGE)
    if " " in token and not options["scheme"]:
        return token
    return f"{options['scheme'] or authorization_scheme()} {token}"


def stop(signum: int, frame: Any) -> NoReturn:
    """End the server cleanly; a second signal ends it at once."""
    signal.signal(signum, signal.SIG_DFL)
    raise Stopped
