"""A call commits and rolls back what the HTTP request would.

The second database is not in the transaction of the test: commits and rollbacks happen there.
"""

from __future__ import annotations

import pytest
from django.db import connections, transaction
from django.http import HttpResponse
from django.urls import path
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exceptions import Conflict
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.parity.answers import over_http
from tests.parity.probes import Probe

ALIAS = "ledger"
ENDPOINT = "/ledger/mcp"


@pytest.fixture(params=[True, False], ids=["atomic", "not_atomic"])
def ledger(request, db):
    """A database with one table, with and without ATOMIC_REQUESTS."""
    own = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "ATOMIC_REQUESTS": request.param,
    }
    settings = connections.configure_settings({"default": {}, ALIAS: own})[ALIAS]
    connections.settings[ALIAS] = settings
    connection = connections[ALIAS]
    connection.connect()  # cursor() would connect, but the test runner guards it
    connection.cursor().execute("CREATE TABLE entry (text TEXT)")
    yield connection
    connection.connection.close()
    del connections[ALIAS], connections.settings[ALIAS]


def write(text: str) -> None:
    connections[ALIAS].cursor().execute("INSERT INTO entry VALUES (%s)", [text])


def read_entries() -> list[str]:
    cursor = connections[ALIAS].cursor()
    cursor.execute("SELECT text FROM entry ORDER BY rowid")
    return [text for (text,) in cursor.fetchall()]


class EntrySerializer(serializers.Serializer):
    """An entry, and how the request ends."""

    text = serializers.CharField()
    ending = serializers.CharField(default="success")


class Write(APIView):
    """Writes an entry, and ends in one of several ways."""

    permission_classes = [AllowAny]
    serializer_class = EntrySerializer

    def post(self, request) -> Response | HttpResponse:
        """Write an entry."""
        write(request.data["text"])
        return getattr(self, request.data.get("ending", "success"))()

    def success(self) -> Response:
        return Response({"entries": len(read_entries())}, status=201)

    def returned_error(self) -> Response:
        return Response({"detail": "No."}, status=400)

    def plain_error(self) -> HttpResponse:
        return HttpResponse("No.", status=400)

    def invalid(self) -> Response:
        raise ValidationError("No.")

    def conflict(self) -> Response:
        raise Conflict

    def crash(self) -> Response:
        raise RuntimeError("No.")

    def bad_rendering(self) -> Response:
        return Response({"unwritable": object()})

    def marked_for_rollback(self) -> Response:
        if connections[ALIAS].in_atomic_block:
            transaction.set_rollback(True, using=ALIAS)
        return self.success()

    def in_an_atomic_block(self) -> Response:
        with transaction.atomic(using=ALIAS):
            write("inside")
            raise ValidationError("No.")

    def after_commit(self) -> Response:
        transaction.on_commit(lambda: write("after commit"), using=ALIAS)
        return self.success()

    def after_commit_without_commit(self) -> Response:
        transaction.on_commit(lambda: write("after commit"), using=ALIAS)
        raise ValidationError("No.")


ENDINGS = [
    "success",
    "returned_error",
    "plain_error",
    "invalid",
    "conflict",
    "crash",
    "bad_rendering",
    "marked_for_rollback",
    "in_an_atomic_block",
    "after_commit",
    "after_commit_without_commit",
]


@pytest.fixture
def agent(expose, http_of):
    def make(*decorators, **options) -> Agent:
        view = Write.as_view()
        for decorator in decorators:
            view = decorator(view)
        expose(path("write/", view), path(ENDPOINT[1:], MCPView.as_view()))
        http = http_of("alice")
        http.raise_request_exception = False
        return Agent(http, path=ENDPOINT, **options)

    return make


def write_both_ways(agent: Agent, ending: str) -> tuple[list[str], list[str]]:
    arguments = {"text": "entry", "ending": ending}
    response = over_http(agent.http, "POST", "/write/", arguments)
    over_http_left = read_entries()
    connections[ALIAS].cursor().execute("DELETE FROM entry")
    result = agent.call_with("write", arguments)
    assert result.is_error is (response.status_code >= 400)
    return over_http_left, read_entries()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_call_leaves_the_entries_of_the_request(ledger, agent, ending):
    expected, left = write_both_ways(agent(), ending)
    assert left == expected


@pytest.mark.parametrize("ending", ["invalid", "conflict", "crash", "in_an_atomic_block"])
def test_only_atomic_requests_roll_back_the_writes_of_a_failed_call(ledger, agent, ending):
    """Django's documentation says so; the test above only compares."""
    _, left = write_both_ways(agent(), ending)
    assert left == ([] if ledger.settings_dict["ATOMIC_REQUESTS"] else ["entry"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_non_atomic_view_is_non_atomic(ledger, agent, ending):
    leave_alone = transaction.non_atomic_requests(using=ALIAS)
    expected, left = write_both_ways(agent(leave_alone), ending)
    assert left == expected
    assert left[:1] == ["entry"]


def test_on_commit_runs_after_the_call_and_before_the_response(ledger, agent):
    _, left = write_both_ways(agent(), "after_commit")
    assert left == ["entry", "after commit"]


def test_a_call_runs_in_no_other_transaction_than_its_own(ledger, expose, http_of):
    probe = Probe.looking(lambda request: (ledger.in_atomic_block, len(ledger.savepoint_ids)))
    expose(path("probe/", probe.as_view()), path(ENDPOINT[1:], MCPView.as_view()))
    http = http_of("alice")
    http.get("/probe/")
    Agent(http, path=ENDPOINT).call_with("probe_get", {})
    assert probe.seen == [(ledger.settings_dict["ATOMIC_REQUESTS"], 0)] * 2
