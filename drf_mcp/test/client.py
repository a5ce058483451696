"""REST framework's test client, speaking MCP to the project's endpoint."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from django.urls import reverse
from rest_framework.test import APIClient, ForceAuthClientHandler

import drf_mcp
from drf_mcp.envelopes import BUILT_IN_ENVELOPES, Envelope, ResponseV2Envelope
from drf_mcp.exceptions import attempt
from drf_mcp.outcomes import MISSING, Outcome, Problem
from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    METHOD_HEADER,
    NAME_HEADER,
    PROTOCOL_VERSION_HEADER,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.protocol.eras import repeat_arguments
from drf_mcp.routes.registry import registry
from drf_mcp.signals import records_wanted


@dataclass
class ToolProblem(Problem):
    """A problem with the arguments of a tool.

    ``received`` is None where the envelope does not repeat what was sent.
    """

    received: Any = None

    @classmethod
    def from_problem(cls, problem: Problem) -> Self:
        # The "status" contract keeps members in the context.
        context = problem.context
        received = context.get("received") if problem.received is MISSING else problem.received
        return cls(
            code=problem.code,
            message=problem.message,
            pointer=problem.pointer or context.get("pointer", ""),
            received=received,
            accepted=problem.accepted or context.get("accepted"),
            remediation=problem.remediation,
        )


@dataclass(frozen=True)
class ToolError:
    """Why a tool failed; ``code`` as the envelope writes it."""

    code: str
    message: str
    remediation: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The result of ``tools/call``.

    Attributes:
        raw: the members of the CallToolResult.
        response: the HTTP response that carried it.
    """

    raw: dict[str, Any]
    response: Any = None

    @property
    def is_error(self) -> bool:
        """Whether the result says that the tool failed."""
        return bool(self.raw.get("isError", False))

    @property
    def ok(self) -> bool:
        """Whether there is no failure, not even a soft one."""
        return self.error is None

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content blocks, the envelope's text first."""
        blocks: list[dict[str, Any]] = self.raw["content"]
        return blocks

    @property
    def text(self) -> str:
        """The text of the first block."""
        return str(self.content[0].get("text", ""))

    @functools.cached_property
    def envelope(self) -> Any:
        """The envelope, of structured content or of the text where there is none."""
        if "structuredContent" in self.raw:
            return self.raw["structuredContent"]
        try:
            return json.loads(self.text)
        except ValueError:
            return self.text

    @functools.cached_property
    def _parsed(self) -> tuple[Envelope, Outcome]:
        # A result has no HTTP status; `parse` only needs to know whether it is an error.
        status = 500 if self.is_error else 200
        parsed = (
            (built_in, built_in.parse(self.envelope, status)) for built_in in BUILT_IN_ENVELOPES
        )
        return next((built_in, outcome) for built_in, outcome in parsed if outcome is not None)

    @property
    def data(self) -> Any:
        """The data of the view; None for a failure, unless it is soft and has an answer."""
        outcome = self._parsed[1]
        failure = outcome.failure
        if failure is None:
            return outcome.data
        # A failure without ``isError`` is soft.
        answer = None if self.is_error else dict(failure.context) or None
        return next((data for data in (failure.data, outcome.data) if data is not None), answer)

    @property
    def error(self) -> ToolError | None:
        """Why it failed, None if it did not."""
        envelope, outcome = self._parsed
        failure = outcome.failure
        if failure is None:
            return None
        code = envelope.format_code(failure.code)
        return ToolError(code, failure.message, failure.remediation)

    @property
    def problems(self) -> tuple[ToolProblem, ...]:
        """The problems with the arguments, in their order."""
        envelope, outcome = self._parsed
        if outcome.failure is None:
            return ()
        problems = map(ToolProblem.from_problem, outcome.failure.problems)
        # Where errors are a list, the failure itself is one of them, without a pointer.
        return tuple(p for p in problems if p.pointer or isinstance(envelope, ResponseV2Envelope))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The members of the envelope about the answer, such as pagination and warnings."""
        name = self._parsed[0].meta_member
        return self.envelope[name] if name else {}


DEFAULT_PATH = "/mcp"


class MCPRefused(Exception):
    """The endpoint answered with a JSON-RPC error, or with no JSON-RPC message at all.

    Attributes:
        code: the error's code, 0 for none.
        message: its sentence, or what came instead.
        data: the data of the error.
        response: the HTTP response.
    """

    def __init__(self, error: Mapping[str, Any], response: Any) -> None:
        self.code: int = error.get("code", 0)
        self.response = response
        self.message: str = error.get("message", "") if error else self._describe_response()
        self.data = error.get("data")
        text = f"{self.code}: {self.message}" if error else self.message
        super().__init__(f"{text} (HTTP {response.status_code})")

    def _describe_response(self) -> str:
        # No message at all is written by middleware as a rule.
        headers = self.response.headers
        if "Location" in headers:
            return f"no JSON-RPC message, but a redirect to {headers['Location']}"
        media_type = headers.get("Content-Type", "").partition(";")[0]
        return f"no JSON-RPC message, but {media_type or 'nothing'}"


class EnvelopeHandler(ForceAuthClientHandler):
    # Forces an envelope on the endpoint, as REST framework's handler forces a user on views;
    # see `drf_mcp.server.Server.force_envelope`.

    choose: Callable[[type[Envelope]], type[Envelope]] | None = None

    def get_response(self, request: Any) -> Any:
        request._force_envelope = self.choose
        return super().get_response(request)


class MCPClient(APIClient):
    """Calls tools over HTTP, through the project's middleware, as an MCP client does.

    Whatever `APIClient` can do works: ``force_authenticate``, ``credentials``, ``login``.

    Args:
        revision: the revision of MCP to speak.
        envelope_class: the envelope of every result; None for what the project chose.
        path: where the endpoint is; None for where ``drf_mcp.urls`` has it.
        answer: called with the params of each ``elicitation/create``; it returns the members of
            the form, {} to agree, None to decline. Without it the client cannot be asked.
    """

    def __init__(
        self,
        *,
        revision: str = STATELESS_REVISION,
        envelope_class: type[Envelope] | None = None,
        path: str | None = None,
        answer: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None = None,
        enforce_csrf_checks: bool = False,
        **defaults: Any,
    ) -> None:
        super().__init__(enforce_csrf_checks=enforce_csrf_checks, **defaults)
        self.handler: EnvelopeHandler = EnvelopeHandler(enforce_csrf_checks)
        self.revision = revision
        self.path = path
        self.answer = answer
        if envelope_class is not None:
            self.handler.choose = lambda own: envelope_class

    def list_tools(self) -> dict[str, dict[str, Any]]:
        """Return the definitions of the tools that the caller sees, by name."""
        definitions: dict[str, dict[str, Any]] = {}
        params: dict[str, Any] = {}
        while True:
            page = self.request_mcp("tools/list", params)[0]
            definitions.update({tool["name"]: tool for tool in page["tools"]})
            if "nextCursor" not in page:
                return definitions
            params = {"cursor": page["nextCursor"]}

    def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any
    ) -> ToolResult:
        """Call a tool, answer what is asked, and return the result, be it a failure.

        Args:
            name: the tool.
            arguments: its arguments, for names that are no Python identifiers.
            more: its arguments.

        Raises:
            MCPRefused: if there is no such tool, or the caller is not let in.
        """
        params = {"name": name, "arguments": {**(arguments or {}), **more}}
        result, response = self.request_mcp("tools/call", params)
        while result.get("resultType") == "input_required":
            requests = result["inputRequests"].items()
            responses = {key: self.respond(request["params"]) for key, request in requests}
            state = {n: result[n] for n in ("requestState",) if n in result}
            retry = {**params, "inputResponses": responses, **state}
            result, response = self.request_mcp("tools/call", retry)
        return ToolResult(result, response)

    def respond(self, question: Mapping[str, Any]) -> dict[str, Any]:
        content = self.answer(question) if self.answer else None
        return (
            {"action": "decline"} if content is None else {"action": "accept", "content": content}
        )

    def request_mcp(self, method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """Send a request and return the members of its result, and the HTTP response."""
        message, headers = self.make_message(method, params)
        response: Any = self.generic(
            "POST",
            self.path or attempt(lambda: reverse("drf_mcp:endpoint"), DEFAULT_PATH),
            json.dumps(message),
            content_type="application/json",
            headers=headers,
        )
        self.flush()
        answer = attempt(lambda: json.loads(response.content), None)
        if not isinstance(answer, dict) or "result" not in answer:
            error = answer.get("error", {}) if isinstance(answer, dict) else {}
            raise MCPRefused(error, response)
        return answer["result"], response

    def flush(self) -> None:
        """Write what features keep in memory for a while; each request of the client ends so.

        Call it after requests that came another way, or from a background thread.
        """
        records_wanted.send(type(self))

    def make_message(
        self, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        headers = {PROTOCOL_VERSION_HEADER: self.revision}
        members = dict(params)
        if self.revision == STATELESS_REVISION:
            members["_meta"] = {
                PROTOCOL_VERSION_KEY: self.revision,
                CLIENT_INFO_KEY: {"name": "drf_mcp.test", "version": drf_mcp.__version__},
                CLIENT_CAPABILITIES_KEY: {"elicitation": {"form": {}}} if self.answer else {},
            }
            headers[METHOD_HEADER] = method
            if "name" in params:
                headers[NAME_HEADER] = params["name"]
                tool = registry.tools().get(params["name"])
                names = tool.header_parameters if tool else {}
                headers |= repeat_arguments(params.get("arguments"), names)
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": members}, headers
