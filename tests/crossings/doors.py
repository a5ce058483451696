"""The doors to the endpoint of a case: each takes a request, and returns the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory, TestCase
from django.utils import translation
from django_tasks_db.models import DBTaskResult
from rest_framework.exceptions import APIException

from drf_mcp.transports.http import BufferedStream
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from drf_mcp.transports.toolbox import Toolbox
from tests.access_matrix.doors import connections_kept
from tests.agents import Agent
from tests.asgi import BOTH
from tests.contrib.asking.handshake import FORMS, Host, accept

TASKS = "io.modelcontextprotocol/tasks"
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
Message = Mapping[str, Any]


class CallerRefused(Exception):
    """The door refused the caller, with this status and response."""


class MessageRefused(Exception):
    """The response is a JSON-RPC error."""


def read_message(message: Message, status: int = 200) -> Message:
    if "result" in message:
        result: Message = message["result"]
        return result
    if status == 401:
        raise CallerRefused(401, json.dumps(message))
    raise MessageRefused(message["error"])


class Doors:
    """Sends the requests of a case.

    Args:
        crossing: the case that is served.
    """

    def __init__(self, crossing: Any) -> None:
        self.crossing = crossing
        # How often the host was asked; its user always agrees.
        self.asked = 0
        # The last form that the host was sent.
        self.form = ""
        # Calls that were sent in addition to those of the case.
        self.others = 0

    def send(self, method: str, params: Message, header: str | None) -> Message:
        doors: Mapping[str, Callable[..., Message]] = {
            "HTTP": self.by_http,
            "host with forms": self.by_host,
            "stdio": self.by_stdio,
            "in process": self.in_process,
            "toolbox": self.by_toolbox,
        }
        return doors[self.crossing.case["door"]](method, params, header)

    def make_headers(self, header: str | None) -> dict[str, str]:
        return {**self.crossing.headers, **({"authorization": header} if header else {})}

    def make_agent(self, header: str | None, **options: Any) -> Agent:
        client = Client(headers=self.make_headers(header))
        return Agent(client, path=self.crossing.endpoint, **options)

    def by_http(self, method: str, params: Message, header: str | None) -> Message:
        agent = self.make_agent(header)
        if self.crossing.is_on("tasks"):
            capabilities = {"extensions": {TASKS: {}}}
            meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
            params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
        with TestCase.captureOnCommitCallbacks(execute=True):
            response = agent.post(*agent.frame(method, params))
        result = read_message(json.loads(response.content), response.status_code)
        return self.finish(agent, result, params) if result["resultType"] == "task" else result

    def finish(self, agent: Agent, task: Message, params: Message) -> Message:
        """Run the task like a worker, and return its result."""
        for job in list(DBTaskResult.objects.ready()):
            job.claim("this process")
            job.task.call(*job.task_result.args, **job.task_result.kwargs)
            job.set_successful(None)
        asked = {"taskId": task["taskId"], "_meta": params["_meta"]}
        answer = json.loads(agent.post(*agent.frame("tasks/get", asked)).content)
        assert answer["result"]["status"] == "completed", answer
        result: Message = answer["result"]["result"]
        return result

    def by_host(self, method: str, params: Message, header: str | None) -> Message:
        headers = self.make_headers(header)
        host = Host(headers=headers, opens=False, at=self.crossing.endpoint)
        if header:
            host.shake_hands(FORMS)
        message, headers = host.agent.frame(method, params)

        class AnsweredStream(BufferedStream):
            def __init__(stream, respond: Callable[[], Any]) -> None:
                super().__init__(respond)
                stream.channel.is_live = True

            def send(stream, method: str, params: Any, id: str | None = None) -> None:
                self.asked += 1
                self.form = json.dumps(params)
                assert (method, host.answer(id, accept())) == ("elicitation/create", 202)

        with self.crossing.patch.context() as patch:
            # Another thread would not see the rows of the test's transaction.
            patch.setattr("drf_mcp.views.open_stream", lambda request, r: AnsweredStream(r))
            response = host.agent.post(message, {**headers, **host.session, "Accept": BOTH})
        return read_message(json.loads(response.content), response.status_code)

    def by_stdio(self, method: str, params: Message, header: str | None) -> Message:
        lines: list[bytes] = []
        endpoint = LocalEndpoint(self.crossing.endpoint)
        caller = lambda: endpoint.make_caller(None, header)  # noqa: E731
        door = StdioConnection(endpoint.make_server(), caller, lines.append)
        message, _ = Agent(Client()).frame(method, params)
        work = door.receive(json.dumps(message).encode())
        assert work is not None
        with connections_kept():
            door.answer(work)
        # Stdio has no status.
        return read_message(json.loads(lines[0]), 200 if header else 401)

    def by_toolbox(self, method: str, params: Message, header: str | None) -> Message:
        headers = self.make_headers(header)
        request = RequestFactory(headers=headers).post("/assistant/")
        request.user = AnonymousUser()
        toolbox = Toolbox(request, self.crossing.endpoint)
        return self.send_within(toolbox._client, method, params)

    def in_process(self, method: str, params: Message, header: str | None) -> Message:
        user = self.crossing.user if header else None
        client = InProcessClient(user, endpoint=LocalEndpoint(self.crossing.endpoint))
        return self.send_within(client, method, params)

    def send_within(self, client: InProcessClient, method: str, params: Message) -> Message:
        language = "de" if self.crossing.case["language"] == "of the client" else "en"
        try:
            with translation.override(language):
                return read_message(client.send(method, params))
        except APIException as exc:
            raise CallerRefused(401, str(exc)) from exc
