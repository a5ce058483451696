"""``make demo``: fill the shop, say how to connect to it, serve it."""

from __future__ import annotations

import errno
import json
import socket

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from django.urls import reverse
from rest_framework.authtoken.models import Token

HOST = "127.0.0.1"

GUIDE = """
The shop's MCP endpoint:  {url}  (in a browser: log in as alice, alice)
Its REST API:             {api}

Tokens (the password of each user is the user's name):
{tokens}

Claude Code:
claude mcp add --transport http shop {url} --header "{authorization}"

Other clients:
{configuration}

By hand:
curl -s {url} -H '{authorization}' -H 'Content-Type: application/json' \
-H 'Accept: application/json, text/event-stream' -d '{call}'
"""

SIGN_IN_GUIDE = """
Without a token, by signing in (add the address to any client that knows OAuth):
claude mcp add --transport http shop {url}
What is connected, and to whom: {connections}
"""

ROLES = {
    "alice": "sees her own customers and orders; take this one",
    "bob": "sees his own",
    "carol": "staff: sees everything",
    "admin": "superuser: may do everything",
}

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "customers_list", "arguments": {"tier": ["gold"], "page_size": 3}},
}


def port_number(value: str) -> int:
    """Return a TCP port, or raise `CommandError`."""
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise CommandError(f"{value!r} is no port. Try: PORT=8001 make demo")
    return int(value)


def check_port(port: int) -> None:
    """Raise `CommandError`, with another port to try, if the port cannot be served."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        # As runserver does, so that a port that was served a moment ago counts as free.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((HOST, port))
        except OSError as exc:
            reason = "taken" if exc.errno == errno.EADDRINUSE else f"refused ({exc.strerror})"
            other = port + 1 if 1023 < port < 65535 else 8001
            raise CommandError(f"Port {port} is {reason}. Try: PORT={other} make demo") from exc


def fill() -> None:
    """Make the tables and put the sample data in, or raise `CommandError`."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("seed", verbosity=0)
    except OperationalError as exc:
        name = settings.DATABASES["default"]["NAME"]
        raise CommandError(
            f"The database {name} cannot be filled: {exc}. Try: SHOP_DB=/tmp/shop.sqlite3 make demo"
        ) from exc


def guide(port: int) -> str:
    """Return the text that explains how to connect a client to the demo."""
    url = f"http://{HOST}:{port}/mcp"
    tokens = {name: Token.objects.get(user__username=name).key for name in ROLES}
    authorization = f"Token {tokens['alice']}"
    server = {"type": "http", "url": url, "headers": {"Authorization": authorization}}
    text = GUIDE.format(
        url=url,
        api=f"http://{HOST}:{port}/api/",
        tokens="\n".join(f"  {name:<6} {tokens[name]}  {role}" for name, role in ROLES.items()),
        configuration=json.dumps({"mcpServers": {"shop": server}}),
        authorization=f"Authorization: {authorization}",
        call=json.dumps(CALL),
    )
    if settings.SHOP_OAUTH:
        connections = f"http://{HOST}:{port}{reverse('oauth2_provider:connections')}"
        text += SIGN_IN_GUIDE.format(url=url, connections=connections)
    return text


class Command(BaseCommand):
    """The command may be run again: it keeps the rows of the shop."""

    help = "Fill the shop, print how to connect an MCP client to it, and serve it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--port", default="8000")
        parser.add_argument("--no-serve", action="store_true", help="Print only.")

    def handle(self, *args, port: str, no_serve: bool, **options) -> None:
        port = port_number(port)
        if not no_serve:
            check_port(port)
        fill()
        self.stdout.write(guide(port))
        self.stdout.flush()
        if not no_serve:
            call_command("runserver", f"{HOST}:{port}", use_reloader=False)
