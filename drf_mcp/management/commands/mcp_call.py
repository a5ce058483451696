"""``manage.py mcp_call``: call a tool from the command line."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from rest_framework.exceptions import APIException

from drf_mcp.local import send

TOOL_FAILED = 1
USAGE = 2


class Command(BaseCommand):
    """Runs the whole pipeline without HTTP and prints the envelope.

    Exits with 1 if the tool answered with an error, with 2 if it could not be called.
    """

    help = "Call a tool and print its answer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the tool's name, as mcp_tools lists it")
        parser.add_argument(
            "arguments", nargs="?", default="{}", help="""its arguments, as JSON: '{"page": 2}'"""
        )
        parser.add_argument("--user", help="the username on whose behalf to call")

    def handle(self, *args: Any, **options: Any) -> None:
        """Call the tool."""
        params = {"name": options["name"], "arguments": arguments_of(options["arguments"])}
        try:
            response = send("tools/call", params, user_of(options["user"]))
        except APIException as exc:
            raise CommandError(f"{exc.detail} Name a user with --user.", returncode=USAGE) from exc
        if "error" in response:
            raise CommandError(response["error"]["message"], returncode=USAGE)
        result = response["result"]
        self.stdout.write(readable(result))
        if result.get("isError"):
            sys.exit(TOOL_FAILED)


def arguments_of(text: str) -> dict[str, Any]:
    """Parse the arguments."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise CommandError(f"The arguments are not JSON: {exc}", returncode=USAGE) from exc
    if not isinstance(arguments, dict):
        raise CommandError("The arguments must be a JSON object.", returncode=USAGE)
    return arguments


def user_of(username: str | None) -> Any:
    """Return the user of that name; None for no name."""
    if username is None:
        return None
    users = get_user_model()
    try:
        return users._default_manager.get_by_natural_key(username)
    except users.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.", returncode=USAGE) from None


def readable(result: dict[str, Any]) -> str:
    """Return a result for reading: the envelope indented, or the text as it is."""
    if "structuredContent" in result:
        return json.dumps(result["structuredContent"], indent=2, ensure_ascii=False)
    return "\n".join(block.get("text", f"[{block['type']}]") for block in result["content"])
