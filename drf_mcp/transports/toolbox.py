"""The tools of an endpoint for an assistant in the project itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from drf_mcp.access.resources import WellKnownConverter
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint


class RequestEndpoint(LocalEndpoint):
    """An endpoint whose caller is the sender of a request to another view."""

    def __init__(self, request: HttpRequest, path: str | None) -> None:
        super().__init__(path)
        self.request = request

    def _make_request(self, user: Any = None, authorization: str | None = None) -> Any:
        request: Any = copy.copy(self.request)
        request.META = dict(request.META)
        request.path = request.path_info = self.path
        # A session has to send the CSRF token, as to the endpoint itself, also with a GET.
        request.method = request.META["REQUEST_METHOD"] = "POST"
        request.csrf_processing_done = False
        request.resolver_match = None
        request.is_mcp_request = True
        return request


@dataclass(frozen=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: what the model reads.
        is_error: whether the tool failed.
        blocks: the content blocks of MCP, the text first.
    """

    text: str
    is_error: bool
    blocks: Sequence[Mapping[str, Any]] = ()


class Toolbox:
    """The tools of an endpoint, for an assistant that acts for the sender of a request.

    Calls have the permissions, throttles, guards and records of calls over HTTP. They use the
    credential, the session and the CSRF token of the request.

    Args:
        request: a request of Django or REST framework.
        path: the path of the endpoint; None for the only one of the URLconf.

    Raises:
        LookupError: if there is no endpoint at the path, or several without a path.
    """

    def __init__(self, request: HttpRequest | Request, path: str | None = None) -> None:
        if path is None:
            paths = [found.path for found in WellKnownConverter().find_every()]
            if len(paths) > 1:
                raise LookupError(f"Name one of the endpoints: {', '.join(paths)}.")
            path = paths[0] if paths else None
        django_request = request._request if isinstance(request, Request) else request
        self._client = InProcessClient(endpoint=RequestEndpoint(django_request, path))

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the tools that the caller may call, as in the result of ``tools/list``.

        Raises:
            APIException: if the endpoint refuses the caller.
        """
        tools: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            result = self._client.send("tools/list", params)["result"]
            tools += result["tools"]
            if "nextCursor" not in result:
                return tools
            params = {"cursor": result["nextCursor"]}

    def for_anthropic(self) -> list[dict[str, Any]]:
        """Return the tools for ``tools`` of Anthropic's Messages API."""
        return [
            {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "input_schema": tool["inputSchema"],
            }
            for tool in self.list_tools()
        ]

    def for_openai(self) -> list[dict[str, Any]]:
        """Return the tools for ``tools`` of OpenAI's Responses API."""
        return [
            {
                "type": "function",
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool["inputSchema"],
                # The strict mode wants each argument in each call.
                "strict": False,
            }
            for tool in self.list_tools()
        ]

    def for_openai_chat(self) -> list[dict[str, Any]]:
        """Return the tools for ``tools`` of OpenAI's Chat Completions API."""
        return [{"type": tool.pop("type"), "function": tool} for tool in self.for_openai()]

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolAnswer:
        """Call a tool.

        Args:
            arguments: an object, or its JSON as OpenAI's models write it.

        Raises:
            APIException: if the endpoint refuses the caller.
        """
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError as exc:
                return ToolAnswer(f"The arguments are no JSON: {exc}", is_error=True)
        params = {"name": name, "arguments": {} if arguments is None else arguments}
        response = self._client.send("tools/call", params)
        if "error" in response:
            # A tool that does not exist is an error of the protocol, which the model can mend.
            return ToolAnswer(response["error"]["message"], is_error=True)
        result = response["result"]
        blocks = result.get("content", [])
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        return ToolAnswer(text, result.get("isError", False), blocks)

    def answer(self, call: Any) -> dict[str, Any]:
        """Call the tool that a model asks for, and return the message that answers the model.

        Args:
            call: an object of the SDK, or a dict: a ``tool_use`` of Anthropic's Messages API, a
                ``function_call`` of OpenAI's Responses API, or a tool call of its Chat Completions
                API.

        Raises:
            TypeError: if it is none of the three.
            APIException: if the endpoint refuses the caller.
        """
        fields = call if isinstance(call, Mapping) else vars(call)
        kind = fields.get("type")
        if kind == "tool_use":
            answer = self.call(fields["name"], fields["input"])
            content = {"type": "tool_result", "tool_use_id": fields["id"], "content": answer.text}
            return {**content, "is_error": True} if answer.is_error else content
        if kind == "function_call":
            answer = self.call(fields["name"], fields["arguments"])
            return {
                "type": "function_call_output",
                "call_id": fields["call_id"],
                "output": answer.text,
            }
        if kind == "function":
            function = fields["function"]
            function = function if isinstance(function, Mapping) else vars(function)
            answer = self.call(function["name"], function["arguments"])
            return {"role": "tool", "tool_call_id": fields["id"], "content": answer.text}
        raise TypeError(f"A {kind or type(call).__name__} is no call of a tool.")
