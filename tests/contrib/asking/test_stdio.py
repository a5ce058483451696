"""Over stdio, forms and answers are lines on the streams of the process."""

from __future__ import annotations

import json
import threading
from queue import SimpleQueue

import pytest
from django.contrib.auth.models import User
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import registry
from drf_mcp.server import Server
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from tests.contrib.asking.handshake import FORMS, accept, validate
from tests.interaction import views

router = SimpleRouter()
router.register("refunds", views.RefundViewSet, basename="refunds")
pytestmark = pytest.mark.django_db(transaction=True)


class Streams:
    """A connection that answers each line in a thread, as `mcp_stdio` does."""

    def __init__(self, user: User) -> None:
        self.written: SimpleQueue = SimpleQueue()
        caller = lambda: LocalEndpoint().make_caller(user)  # noqa: E731
        self.door = StdioConnection(Server(registry), caller, self.written.put)
        self.threads: list[threading.Thread] = []

    def write(self, **members) -> None:
        line = json.dumps({"jsonrpc": "2.0", **members}).encode()
        if work := self.door.receive(line):
            thread = threading.Thread(target=self.door.answer, args=(work,))
            thread.start()
            self.threads.append(thread)

    def read(self):
        return json.loads(self.written.get(timeout=5))

    def finish(self):
        for thread in self.threads:
            thread.join(5)


@pytest.fixture
def streams(settings, transactional_db):
    patterns = [path("", include("drf_mcp.urls")), *router.urls]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    registry.reload()
    user, _ = User.objects.get_or_create(username="frida")
    streams = Streams(user)
    client = {"name": "tests", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": FORMS, "clientInfo": client}
    streams.write(id=0, method="initialize", params=params)
    assert streams.read()["id"] == 0
    streams.write(method="notifications/initialized")
    yield streams
    streams.finish()


def test_a_form_and_its_answer_are_lines(streams):
    streams.write(id=1, method="tools/call", params={"name": "refunds_create", "arguments": {}})
    question = streams.read()
    validate(question, "2025-11-25")
    streams.write(id=question["id"], result=accept(reason="late", amount=5))
    answer = streams.read()
    assert answer["id"] == 1
    assert answer["result"]["structuredContent"]["data"] == {"reason": "late", "amount": "5.00"}


def test_a_cancelled_call_stops_waiting_and_is_not_answered(streams):
    streams.write(id=1, method="tools/call", params={"name": "refunds_create", "arguments": {}})
    assert streams.read()["method"] == "elicitation/create"
    streams.write(method="notifications/cancelled", params={"requestId": 1})
    streams.finish()
    assert streams.written.empty()
