"""One case: the endpoint that it describes, its caller, and the doors to it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from django.test import Client, TestCase
from django.urls import include, path
from django_tasks_db.models import DBTaskResult
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import APIException
from rest_framework.test import APIClient
from rest_framework.throttling import BaseThrottle

from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.tools import registry
from drf_mcp.transports.http import BufferedStream
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from drf_mcp.truncation.budget import CLIENT_LIMIT_KEY
from drf_mcp.views import MCPView
from example_project.shop.models import Ticket
from tests.agents import Agent
from tests.asgi import BOTH
from tests.contrib.asking.handshake import FORMS, Host, accept
from tests.crossings.drawing import OFF, ON, Case
from tests.crossings.views import AUTHENTICATION, KINDS, STAMP
from tests.parity.answers import CODES, over_http

ENDPOINT = "/crossing/mcp"
ENVELOPES = {
    "v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}
USERS = {"plain": "bob", "staff": "carol", "narrowed": "alice"}
TASKS = "io.modelcontextprotocol/tasks"
MARK = re.compile(r"note<\d+>")
ARCHIVED = re.compile(r"archive_id='([A-Za-z0-9_-]+)'")
# Tokens of a result, and of each note, of which there are thirty.
SMALL, LONG_TEXT = 1000, "It has been said before, and is said again. " * 12


class Counted(BaseThrottle):
    """Counts calls and refuses none."""

    calls = 0

    def allow_request(self, request: Any, view: Any) -> bool:
        type(self).calls += 1
        return True


class Shut(Exception):
    """The caller was not let in; with all that was said."""


@dataclass(frozen=True)
class Reply:
    """A result, and the envelope in it."""

    raw: Mapping[str, Any]
    envelope_name: str
    of_program: bool = False

    @property
    def text(self) -> str:
        return json.dumps(self.raw)

    @property
    def is_error(self) -> bool:
        return bool(self.raw.get("isError"))

    @property
    def envelope(self) -> Any:
        text = self.raw["content"][0]["text"]
        return text if self.is_error and self.envelope_name == "plain" else json.loads(text)

    @property
    def data(self) -> Any:
        data = self.envelope if self.envelope_name == "plain" else self.envelope["data"]
        return data["result"] if self.of_program and "result" in data else data

    @property
    def code(self) -> str | None:
        """The error's code, None where the envelope has codes of its own or none."""
        return str(self.data["error_code"]) if self.envelope_name == "v2" else None

    def answers_as(self, response: Any) -> None:
        """Hold verdict and data against those of an HTTP response."""
        status = response.status_code
        assert self.is_error is (status >= 400), (status, self.raw)
        if status >= 400:
            code = self.code
            assert code is None or code in CODES[status], (status, self.raw)
        elif response.content:
            body = json.loads(response.content)
            wraps = isinstance(body, list) and self.envelope_name in ("v2", "status")
            wraps = wraps and not self.of_program
            assert self.data == ({"results": body} if wraps else body)


class Crossing:
    """Serves a case, and calls its tools."""

    def __init__(self, case: Case, patch: Any, settings: Any) -> None:
        self.case = case
        self.kind = KINDS[case["view"]]
        self.user = User.objects.get(username=USERS[case["caller"]])
        self.sent = 0
        # How often a host was asked, whose user always agrees.
        self.asked = 0
        self.patch = patch
        Counted.calls = 0
        self.fill_notes()
        self.serve(settings)
        if self.is_on("atomic"):
            patch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)

    def is_on(self, feature: str) -> bool:
        return self.case[feature] != OFF

    def has(self, guard: str) -> bool:
        return self.case["guard"] == guard

    def fill_notes(self) -> None:
        """Leave each user with some notes, each with a text that no other one has."""
        customer = Ticket.objects.earliest("pk").customer
        Ticket.objects.all().delete()
        users = [User.objects.get(username=name) for name in ("alice", "bob", "carol")]
        notes = Ticket.objects.bulk_create(
            Ticket(customer=customer, opened_by=users[number % 3], body=LONG_TEXT)
            for number in range(30)
        )
        for note in notes:
            note.subject = f"note<{note.pk}>"
        Ticket.objects.bulk_update(notes, ["subject"])

    def serve(self, settings: Any) -> None:
        options: dict[str, Any] = {}
        if self.has("if_match"):
            options["if_match"] = "subject"
        if self.is_on("several"):
            options["bulk"] = True
        if self.is_on("tasks"):
            options["task"] = "optional"
        if self.case["over budget"] == "by endpoint":
            options["max_result_tokens"] = SMALL
        endpoint = MCPView.as_view(
            envelope_class=ENVELOPES[self.case["envelope"]],
            tool_search=self.is_on("search"),
            compose="writes" if self.is_on("program") else False,
            tool_options=options,
            throttle_classes=[Counted] if self.is_on("throttle") else [],
        )
        patterns = [
            path("", include("drf_mcp.urls")),
            path("crossing/mcp", endpoint),
            *self.kind.urls,
        ]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        if self.is_on("middleware"):
            settings.MIDDLEWARE = [*settings.MIDDLEWARE, STAMP]
        if self.is_on("own errors"):
            own = "tests.crossings.views.answer_error"
            settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "EXCEPTION_HANDLER": own}
        settings.NOTES_ANSWER = self.case["answer"]
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "INCLUDE": ["*"],
            "AUTHENTICATION_CLASSES": AUTHENTICATION,
            "CONFIRM": self.has("confirmation"),
            "DRY_RUN": self.has("dry run"),
            "IDEMPOTENCY_KEYS": self.has("idempotency"),
            "CALL_MIDDLEWARE": [STAMP] if self.is_on("middleware") else [],
            "TASKS_BACKEND": "background" if self.is_on("tasks") else None,
            "AGGREGATES": "auto" if self.is_on("figures") else "declared",
            "TIME_LIMIT": 60 if self.is_on("time limit") else None,
            "MAX_RESULT_TOKENS": {OFF: None, ON: SMALL}.get(self.case["over budget"], 10_000),
            "OUTPUT_SCHEMA": "full" if self.is_on("output schema") else None,
        }
        registry.reload()

    # --- Callers -------------------------------------------------------------------------------

    @cached_property
    def header(self) -> str:
        if self.case["caller"] != "narrowed":
            return f"Token {Token.objects.get_or_create(user=self.user)[0].key}"
        # All tools but the one that deletes.
        kept = [tool.name for tool in registry.tools().values() if tool.endpoint.method != "DELETE"]
        token = AgentToken(user=self.user, name="Agent", tools=kept)
        key = token.issue()
        token.save()
        return f"Bearer {key}"

    @cached_property
    def http(self) -> APIClient:
        key = Token.objects.get_or_create(user=self.user)[0].key
        return APIClient(headers={"authorization": f"Token {key}"})

    # --- Requests ------------------------------------------------------------------------------

    def over_http(self, method: str, pk: int | None = None, body: Any = None) -> Any:
        path = self.kind.every if pk is None else self.kind.one.format(pk=pk)
        return over_http(self.http, method, path, body)

    def find_tool(self, method: str, *, one: bool = False) -> Any:
        path = self.kind.one if one else self.kind.every
        return next(
            tool
            for tool in registry.tools().values()
            if (tool.endpoint.method, tool.endpoint.route.path) == (method, path)
        )

    def call(self, method: str, pk: int | None = None, /, **arguments: Any) -> Reply:
        """Call the tool of a method, for all notes or for one."""
        tool = self.find_tool(method, one=pk is not None)
        names = self.describe(tool)
        guards = {name: arguments.pop(name) for name in list(arguments) if name in GUARDS}
        # A body that no serializer describes is one argument.
        body = (
            {"body": arguments}
            if arguments and "body" in names and "subject" not in names
            else arguments
        )
        key = {} if pk is None else {"id" if "id" in names else "pk": pk}
        return self.call_tool(tool.name, {**key, **body, **guards}, reads=method == "GET")

    def describe(self, tool: Any) -> Mapping[str, Any]:
        """Return the schemas of the arguments that a tool has at the endpoint."""
        options = LocalEndpoint(ENDPOINT).tool_options
        properties: Mapping[str, Any] = registry.tool(tool.name, None, options).arguments.schema[
            "properties"
        ]
        return properties

    def call_tool(self, name: str, arguments: Mapping[str, Any], *, reads: bool) -> Reply:
        if self.is_on("search"):
            arguments = {"name": name, "arguments": arguments}
            name = "tools_read" if reads else "tools_write"
        if self.is_on("program"):
            return self.compose({"program": f"{name}(**{dict(arguments)!r})"})
        return Reply(self.send(name, arguments), self.case["envelope"])

    def compose(self, arguments: Mapping[str, Any]) -> Reply:
        """Run a program, or go on with one."""
        # The call in it counts for throttles too.
        self.sent += 1
        message = self.send("tools_compose", arguments)
        return Reply(message, self.case["envelope"], of_program=True)

    def send(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent += 1
        doors = {
            "HTTP": self.by_http,
            "host with forms": self.by_host,
            "stdio": self.by_stdio,
            "in process": self.in_process,
        }
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if self.case["over budget"] == "by client":
            params["_meta"] = {CLIENT_LIMIT_KEY: SMALL}
        return doors[self.case["door"]](params, self.header)

    # --- Doors ---------------------------------------------------------------------------------

    def by_http(self, params: Mapping[str, Any], header: str | None) -> Mapping[str, Any]:
        agent = Agent(Client(headers={"authorization": header} if header else {}), path=ENDPOINT)
        if self.is_on("tasks"):
            capabilities = {"extensions": {TASKS: {}}}
            meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
            params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
        with TestCase.captureOnCommitCallbacks(execute=True):
            response = agent.post(*agent.frame("tools/call", params))
        answer = json.loads(response.content)
        if "result" not in answer:
            raise Shut(response.status_code, response.content.decode())
        result = answer["result"]
        return result if result["resultType"] != "task" else self.finish(agent, result, params)

    def by_host(self, params: Mapping[str, Any], header: str | None) -> Mapping[str, Any]:
        host = Host(headers={"authorization": header} if header else {}, opens=False, at=ENDPOINT)
        if header:
            host.shake_hands(FORMS)
        message, headers = host.agent.frame("tools/call", params)

        class AnsweredStream(BufferedStream):
            def __init__(stream, respond: Callable[[], Any]) -> None:
                super().__init__(respond)
                stream.channel.is_live = True

            def send(stream, method: str, params: Any, id: str | None = None) -> None:
                self.asked += 1
                assert (method, host.answer(id, accept())) == ("elicitation/create", 202)

        with self.patch.context() as patch:
            # A thread would not see what the transaction of the test has written.
            patch.setattr("drf_mcp.views.open_stream", lambda request, r: AnsweredStream(r))
            response = host.agent.post(message, {**headers, **host.session, "Accept": BOTH})
        answer = json.loads(response.content)
        if "result" not in answer:
            raise Shut(response.status_code, response.content.decode())
        return answer["result"]  # type: ignore[no-any-return]

    def finish(self, agent: Agent, task: Mapping[str, Any], params: Any) -> Mapping[str, Any]:
        """Do what a worker does, and return the result of a task."""
        for job in list(DBTaskResult.objects.ready()):
            job.claim("this process")
            job.task.call(*job.task_result.args, **job.task_result.kwargs)
            job.set_successful(None)
        asked = {"taskId": task["taskId"], "_meta": params["_meta"]}
        answer = json.loads(agent.post(*agent.frame("tasks/get", asked)).content)
        assert answer["result"]["status"] == "completed", answer
        return answer["result"]["result"]  # type: ignore[no-any-return]

    def by_stdio(self, params: Mapping[str, Any], header: str | None) -> Mapping[str, Any]:
        lines: list[bytes] = []
        endpoint = LocalEndpoint(ENDPOINT)
        caller = lambda: endpoint.make_caller(None, header)  # noqa: E731
        door = StdioConnection(endpoint.make_server(), caller, lines.append)
        message, _ = Agent(Client()).frame("tools/call", params)
        work = door.receive(json.dumps(message).encode())
        assert work is not None
        with connections_kept():
            door.answer(work)
        return read_message(json.loads(lines[0]))

    def in_process(self, params: Mapping[str, Any], header: str | None) -> Mapping[str, Any]:
        user = self.user if header else None
        try:
            client = InProcessClient(user, endpoint=LocalEndpoint(ENDPOINT))
            return read_message(client.send("tools/call", params))
        except APIException as exc:
            raise Shut(401, str(exc)) from exc


GUARDS = ("dry_run", "confirmation", "idempotency_key", "if_match")


def read_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if "result" not in message:
        raise Shut(401, json.dumps(message))
    return message["result"]  # type: ignore[no-any-return]


@contextlib.contextmanager
def connections_kept() -> Iterator[None]:
    """Keep the database's connection open at the end of a request, as Django's test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def get_notes() -> list[tuple[Any, ...]]:
    return list(Ticket.objects.order_by("pk").values_list("pk", "subject", "body", "priority"))


def observed(send: Callable[[], Any]) -> tuple[Any, Any]:
    """Return an answer and the notes after it, and take back what was done."""
    cache.clear()
    with transaction.atomic():
        answer = send()
        notes = get_notes()
        transaction.set_rollback(True)
    return answer, notes
