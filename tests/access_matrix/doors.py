"""The doors through which an agent can reach a view, each with answers of the same form.

An answer is an HTTP status and data. The status is 401 for a caller whom the door refuses before
the tool.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.management import CommandError, call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from rest_framework.exceptions import APIException

from drf_mcp.contrib.resources.routes import URISpace
from drf_mcp.settings import mcp_settings
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from tests.access_matrix.awkward_credentials import Credential
from tests.agents import Agent
from tests.parity.answers import CODES, expected_data

STATUSES = {code: status for status, codes in CODES.items() for code in codes}
SHUT = 401


@dataclass(frozen=True)
class Request:
    """One request, as a tool call and over HTTP."""

    tool: str
    arguments: dict[str, Any]
    method: str
    path: str
    body: Any = None

    def __str__(self) -> str:
        return f"{self.tool} {self.arguments}"

    @property
    def reads(self) -> bool:
        return self.method == "GET"


@dataclass(frozen=True)
class Answer:
    """An answer of a door.

    Attributes:
        status: the equivalent HTTP status; for a refusal several are possible.
        data: the data of a success, None for a failure.
        text: the whole text of the answer.
    """

    status: int
    data: Any
    text: str


def read_http(response: Any) -> Answer:
    text = response.content.decode()
    if response.status_code >= 400:
        return Answer(response.status_code, None, text)
    data = expected_data(json.loads(text) if text else None)
    return Answer(200, {"results": data} if isinstance(data, list) else data, text)


def read_result(result: dict[str, Any], text: str) -> Answer:
    envelope = json.loads(result["content"][0]["text"])
    if result.get("isError"):
        return Answer(STATUSES[envelope["data"]["error_code"]], None, text)
    return Answer(200, envelope["data"], text)


def read_message(message: dict[str, Any], text: str, status: int = SHUT) -> Answer:
    if "result" in message:
        return read_result(message["result"], text)
    return Answer(status, None, text)


def frame(agent: Agent, name: str, arguments: dict[str, Any]) -> Any:
    return agent.frame("tools/call", {"name": name, "arguments": arguments})


def by_post(credential: Credential, request: Request, path: str = "/mcp") -> Answer:
    agent = Agent(credential.client, path=path)
    response = agent.post(*frame(agent, request.tool, request.arguments))
    text = response.content.decode()
    return read_message(json.loads(text), text, response.status_code)


def by_search(credential: Credential, request: Request) -> Answer:
    """Through the tools that run other tools."""
    runner = "tools_read" if request.reads else "tools_write"
    inner = {"name": request.tool, "arguments": request.arguments}
    run = Request(runner, inner, request.method, request.path)
    return by_post(credential, run, "/mcp/search")


@contextlib.contextmanager
def connections_kept() -> Iterator[None]:
    """Keep the database connection open after a request, as Django's test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def by_stdio(credential: Credential, request: Request) -> Answer:
    lines: list[bytes] = []
    endpoint, user = LocalEndpoint("/mcp"), None if credential.header else credential.user
    connection = StdioConnection(
        endpoint.make_server(), lambda: endpoint.make_caller(user, credential.header), lines.append
    )
    params = {"name": request.tool, "arguments": request.arguments}
    message, _ = Agent(credential.client).frame("tools/call", params)
    work = connection.receive(json.dumps(message).encode())
    assert work is not None
    with connections_kept():
        connection.answer(work)
    text = lines[0].decode()
    return read_message(json.loads(text), text)


def in_process(credential: Credential, request: Request) -> Answer:
    client = InProcessClient(credential.user, endpoint=LocalEndpoint("/mcp"))
    params = {"name": request.tool, "arguments": request.arguments}
    try:
        message = client.send("tools/call", params)
    except APIException as exc:
        return Answer(SHUT, None, str(exc))
    return read_message(message, json.dumps(message))


def by_command(credential: Credential, request: Request) -> Answer:
    out, options = io.StringIO(), ["--raw", "--endpoint", "/mcp"]
    if credential.user is not None:
        options += ["--as", credential.user.username]
    try:
        with contextlib.suppress(SystemExit):
            arguments = json.dumps(request.arguments)
            call_command("mcp_call", request.tool, arguments, *options, stdout=out)
    except CommandError as exc:
        return Answer(SHUT, None, str(exc))
    text = out.getvalue()
    return read_message(json.loads(text), text)


def by_resource(credential: Credential, request: Request) -> Answer:
    """Through a resource's URI; every refusal is answered as not found."""
    agent = Agent(credential.client)
    uri = URISpace(mcp_settings.SERVER_NAME).write(request.path.partition("?")[0])
    query = request.path.partition("?")[2]
    message, headers = agent.frame("resources/read", {"uri": f"{uri}?{query}" if query else uri})
    response = agent.post(message, headers)
    text = response.content.decode()
    answer = json.loads(text)
    if "result" not in answer:
        return Answer(SHUT if response.status_code == SHUT else 404, None, text)
    data = expected_data(json.loads(answer["result"]["contents"][0]["text"]))
    return Answer(200, {"results": data} if isinstance(data, list) else data, text)


@dataclass(frozen=True)
class Door:
    """One column of the matrix.

    Attributes:
        name: its heading.
        call: sends a request through it.
        only_reads: whether it cannot write.
        needs_user: whether its callers are local users without a credential.
    """

    name: str
    call: Callable[[Credential, Request], Answer]
    only_reads: bool = False
    needs_user: bool = False

    def admits(self, credential: Credential, request: Request) -> bool:
        """Return whether the door accepts this kind of credential."""
        if self.only_reads and not request.reads:
            return False
        return credential.is_user if self.needs_user else True


DOORS = [
    Door("HTTP", by_post),
    Door("search", by_search),
    Door("stdio", by_stdio),
    Door("in process", in_process, needs_user=True),
    Door("mcp_call", by_command, needs_user=True),
    Door("resource", by_resource, only_reads=True),
]
