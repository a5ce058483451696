from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.core.management.base import CommandParser
from rest_framework.exceptions import APIException

from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.dispatch.error_bodies import find_sentence
from drf_mcp.envelopes import BUILT_IN_ENVELOPES
from drf_mcp.management.base import DEFAULT_ORIGIN, MCPCommand, read_call_arguments
from drf_mcp.management.console import quiet_console
from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY
from drf_mcp.protocol.eras import FORM_CAPABILITIES
from drf_mcp.routes.tool import Tool
from drf_mcp.signals import tool_called
from drf_mcp.transports.client_configs import BASIC
from drf_mcp.transports.http_equivalent import EquivalentRequest
from drf_mcp.transports.in_process import InProcessClient

TOOL_FAILED, NOT_MADE_YET = 1, 3
TOKEN = "$MCP_TOKEN"
INPUT_REQUIRED = "input_required"
ENVELOPES = {type(each).__name__: type(each) for each in BUILT_IN_ENVELOPES}


class Command(MCPCommand):
    """Runs the whole pipeline without HTTP and prints the envelope.

    Exits with 1 if the call failed, with 2 if the tool could not be called, with 3 if somebody has
    to confirm, answer or approve first.
    """

    help = "Call a tool and print its answer."

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        # Options may come between the tool's arguments.
        parser = super().create_parser(*args, **kwargs)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", help="the tool's name, as mcp_tools lists it")
        add(
            "arguments",
            nargs="*",
            metavar="key=value",
            help="""the arguments of the tool: page=2 tier='["gold"]' address.city=Bonn, or """
            """as JSON: '{"page": 2}'""",
        )
        self.add_user_argument(add, "the user who calls, by USERNAME_FIELD; anonymous by default")
        add("--envelope", choices=ENVELOPES, help="the envelope of the answer")
        self.add_endpoint_argument(add)
        add("--yes", action="store_true", help="confirm the call, where the tool asks first")
        add("--raw", action="store_true", help="print the JSON-RPC response as it was sent")
        add(
            "--http",
            nargs="?",
            const=DEFAULT_ORIGIN,
            metavar="ORIGIN",
            help="do not call, but print the same HTTP request as a curl command for the "
            f"host at ORIGIN ({DEFAULT_ORIGIN})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = self.find_endpoint(options)
        arguments = read_call_arguments(options["arguments"])
        if options["http"]:
            tool = self.find_tool(options["name"])
            self.stdout.write(self._write_curl(tool, arguments, options))
            return
        console: AbstractContextManager[list[Any]]
        console = nullcontext([]) if options["traceback"] else quiet_console()
        outcomes: list[Outcome] = []

        def note(outcome: Outcome, **kwargs: Any) -> None:
            outcomes.append(outcome)

        tool_called.connect(note)
        with console as kept:
            body = self.call(arguments, options)
        if kept:
            self.stderr.write("Add --traceback to see what was logged.", self.style.NOTICE)
        response = json.loads(body)
        if options["raw"]:
            self.stdout.write(body.decode())
        elif "result" in response:
            self._print_result(response["result"])
        if "error" in response:
            raise UsageError(response["error"]["message"])
        # The calls of a program end before the program does.
        if outcomes and outcomes[-1].failure is not None:
            sys.exit(NOT_MADE_YET if outcomes[-1].is_asked else TOOL_FAILED)

    def call(self, arguments: dict[str, Any], options: dict[str, Any]) -> bytes:
        user = self.find_user(options["username"])
        client = InProcessClient(user, ENVELOPES.get(options["envelope"]), self.endpoint)
        if self.stderr.isatty():
            client.on_progress = self._show_progress
        params: dict[str, Any] = {"name": options["name"], "arguments": arguments}
        try:
            if options["yes"] or sys.stdin.isatty():
                return self._converse(client, params, yes=options["yes"])
            return client.send_for_bytes("tools/call", params)
        except APIException as exc:
            # An unknown tool is reported before an unknown caller.
            self.find_tool(options["name"])
            raise UsageError(f"{find_sentence(exc.detail)} Name a user with --as.") from exc

    def _converse(self, client: InProcessClient, params: dict[str, Any], *, yes: bool) -> bytes:
        own = {**params, "_meta": {CLIENT_CAPABILITIES_KEY: FORM_CAPABILITIES}}
        body = client.send_for_bytes("tools/call", own)
        while (result := json.loads(body).get("result", {})).get("resultType") == INPUT_REQUIRED:
            asked = {key: each["params"] for key, each in result["inputRequests"].items()}
            if any(each["requestedSchema"]["properties"] for each in asked.values()):
                # The command does not show forms: the tool then names the missing arguments.
                return client.send_for_bytes("tools/call", params)
            responses: dict[str, Any] = {}
            for key, each in asked.items():
                self.stderr.write(each["message"])
                agreed = yes or input("Go on? [y/N] ").strip().lower() in ("y", "yes")
                agreement = {"action": "accept", "content": {}}
                responses[key] = agreement if agreed else {"action": "decline"}
            state = {"inputResponses": responses, "requestState": result["requestState"]}
            body = client.send_for_bytes("tools/call", {**own, **state})
        return body

    def _show_progress(self, params: Mapping[str, Any]) -> None:
        total = f" of {params['total']:g}" if "total" in params else ""
        self.stderr.write(f"{params['progress']:g}{total} {params.get('message', '')}".rstrip())

    def _write_curl(self, tool: Tool, arguments: dict[str, Any], options: dict[str, Any]) -> str:
        try:
            request = EquivalentRequest.of_call(tool, arguments)
        except ArgumentsRefused as exc:
            raise UsageError(" ".join(problem.message for problem in exc.problems)) from exc
        if request is None:
            raise UsageError("This call has no HTTP request.")
        username, scheme = options["username"], self.find_scheme()
        if username is None:
            return request.to_curl(options["http"])
        if scheme == BASIC:
            return request.to_curl(options["http"], username=username)
        return request.to_curl(options["http"], f"{scheme} {TOKEN}")

    def _print_result(self, result: dict[str, Any]) -> None:
        if "structuredContent" in result:
            self.stdout.write(self.format_json(result["structuredContent"]))
        for block in result["content"]:
            if block["type"] != "text":
                resource = block.get("resource", block)
                size = len(resource.get("data") or resource.get("blob") or resource.get("text", ""))
                words = ["+", block["type"], resource.get("mimeType"), resource.get("uri")]
                if size:
                    words.append(Screen.count_noun(size, "character"))
                self.stderr.write(" ".join(filter(None, words)), self.style.NOTICE)
            elif "structuredContent" not in result:
                try:
                    self.stdout.write(self.format_json(json.loads(block["text"])))
                except ValueError:
                    # The errors of PlainEnvelope are text that is no JSON.
                    self.stdout.write(block["text"])
