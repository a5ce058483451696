"""``manage.py mcp_call``: call a tool from the command line."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.module_loading import import_string
from rest_framework.exceptions import APIException

from drf_mcp import envelopes
from drf_mcp.dispatch.errors.body import ErrorBody
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import ProtocolError
from drf_mcp.management.arguments import arguments_of
from drf_mcp.management.users import USAGE, user_of
from drf_mcp.operators.client_configs import authorization_scheme
from drf_mcp.operators.http_equivalent import equivalent_request
from drf_mcp.protocol import REVISIONS
from drf_mcp.tools import ArgumentsRefused, registry
from drf_mcp.transports.in_process import send_for_bytes

TOOL_FAILED = 1
DEFAULT_ORIGIN = "http://127.0.0.1:8000"
TOKEN = "$MCP_TOKEN"


class Command(BaseCommand):
    """Runs the whole pipeline without HTTP and prints the envelope.

    Exits with 1 if the tool answered with an error, with 2 if it could not be called.
    """

    help = "Call a tool and print its answer."

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        """Let options stand anywhere among the tool's arguments."""
        parser = super().create_parser(*args, **kwargs)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the tool's name, as mcp_tools lists it")
        parser.add_argument(
            "arguments",
            nargs="*",
            metavar="key=value",
            help="""its arguments: page=2 tier='["gold"]' address.city=Bonn, or as JSON: """
            """'{"page": 2}'""",
        )
        parser.add_argument("--user", help="the user on whose behalf to call, by USERNAME_FIELD")
        parser.add_argument(
            "--revision",
            choices=REVISIONS,
            default=REVISIONS[0],
            help="the revision of MCP to speak",
        )
        parser.add_argument(
            "--envelope",
            help="the envelope of the answer: a class of drf_mcp.envelopes or a dotted path",
        )
        parser.add_argument(
            "--raw", action="store_true", help="print the response as it is on the wire"
        )
        parser.add_argument(
            "--http",
            nargs="?",
            const=DEFAULT_ORIGIN,
            metavar="ORIGIN",
            help="call nothing: print the equivalent HTTP request as a curl command, for the "
            f"host at ORIGIN ({DEFAULT_ORIGIN})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Call the tool."""
        arguments = arguments_of(options["arguments"])
        if options["http"]:
            self.stdout.write(curl(options["name"], arguments, options))
            return
        body = answer(options["name"], arguments, options)
        response = json.loads(body)
        if options["raw"]:
            self.stdout.write(body.decode())
        elif "result" in response:
            self.stdout.write(readable(response["result"]))
            self.tell_content(response["result"]["content"])
        if "error" in response:
            raise CommandError(response["error"]["message"], returncode=USAGE)
        if response["result"].get("isError"):
            sys.exit(TOOL_FAILED)

    def tell_content(self, blocks: list[dict[str, Any]]) -> None:
        """Tell on stderr of the blocks that are not printed."""
        for block in blocks:
            if block["type"] != "text":
                self.stderr.write(f"+ {summary(block)}", self.style.NOTICE)


def answer(name: str, arguments: dict[str, Any], options: dict[str, Any]) -> bytes:
    """Call a tool and return the JSON-RPC response.

    Raises:
        CommandError: if the endpoint lets no such caller in.
    """
    params = {"name": name, "arguments": arguments}
    envelope_class = envelope_of(options["envelope"])
    user = user_of(options["user"])
    try:
        return send_for_bytes(
            "tools/call",
            params,
            user,
            revision=options["revision"],
            envelope_class=envelope_class,
        )
    except APIException as exc:
        raise CommandError(
            f"{ErrorBody(exc.detail).sentence} Name a user with --user.", returncode=USAGE
        ) from exc


def envelope_of(name: str | None) -> type[Envelope] | None:
    """Return an envelope class by its name or dotted path; None for none."""
    if name is None:
        return None
    path = name if "." in name else f"{envelopes.__name__}.{name}"
    try:
        found = import_string(path)
    except ImportError as exc:
        raise CommandError(f"There is no envelope {name!r}: {exc}", returncode=USAGE) from exc
    if not (isinstance(found, type) and issubclass(found, Envelope)):
        raise CommandError(f"{name} is no envelope.", returncode=USAGE)
    return found


def curl(name: str, arguments: dict[str, Any], options: dict[str, Any]) -> str:
    """Return the curl command of the HTTP request that a call stands for.

    Raises:
        CommandError: if there is no such tool or no such request.
    """
    try:
        request = equivalent_request(registry.tool(name), arguments)
    except ProtocolError as exc:
        raise CommandError(exc.message, returncode=USAGE) from exc
    except ArgumentsRefused as exc:
        problems = " ".join(problem.message for problem in exc.problems)
        raise CommandError(problems, returncode=USAGE) from exc
    if request is None:
        raise CommandError("No path can be written for these arguments.", returncode=USAGE)
    authorization = f"{authorization_scheme()} {TOKEN}" if options["user"] else None
    return request.curl(options["http"], authorization)


def readable(result: dict[str, Any]) -> str:
    """Return a result for reading: the envelope indented, a text that is no JSON as it is."""
    if "structuredContent" in result:
        return indented(result["structuredContent"])
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    return "\n".join(map(readable_text, texts))


def readable_text(text: str) -> str:
    """Return a text, indented if it is JSON."""
    try:
        return indented(json.loads(text))
    except ValueError:
        return text


def indented(value: Any) -> str:
    """Return a JSON value for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def summary(block: dict[str, Any]) -> str:
    """Return a content block in a few words."""
    resource = block.get("resource", block)
    size = len(resource.get("data") or resource.get("blob") or resource.get("text") or "")
    words = [block["type"], resource.get("mimeType", ""), resource.get("uri", "")]
    return " ".join(filter(None, [*words, f"{size} characters" if size else ""]))
