"""Messages of a running call, for clients of the handshake revisions with a session."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context
from tests.contrib.asking.handshake import Host


class Talks(APIView):
    """Log a message of each of three levels."""

    permission_classes = []

    def post(self, request) -> Response:
        for level in ("debug", "info", "error"):
            call_context(request).log({"at": level}, level, "shop")
        return Response({})


@pytest.fixture
def make_host(expose, transactional_db):
    expose(path("talks/", Talks.as_view()), AUTHENTICATION_CLASSES=[])
    return Host


def set_level(host, level: str) -> dict:
    params = {"level": level}
    message = {"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": params}
    return host.post(message).json()


def find_levels(host) -> list[str]:
    *sent, last = host.begin("talks", {})
    assert "result" in last
    assert {each["method"] for each in sent} <= {"notifications/message"}
    for each in sent:
        level = each["params"]["level"]
        assert each["params"] == {"level": level, "data": {"at": level}, "logger": "shop"}
    return [each["params"]["level"] for each in sent]


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
def test_a_client_gets_messages_from_the_level_that_it_chose(make_host, revision):
    host, other = make_host(revision=revision), make_host(revision=revision)
    assert find_levels(host) == ["info", "error"]
    assert set_level(host, "error") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert find_levels(host) == ["error"]
    set_level(host, "debug")
    assert find_levels(host) == ["debug", "info", "error"]
    assert find_levels(other) == ["info", "error"]


def test_an_unknown_level_is_refused(make_host):
    error = set_level(make_host(), "loud")["error"]
    assert (error["code"], "debug, info" in error["message"]) == (-32602, True)


def test_a_client_without_a_session_gets_none(make_host):
    host = make_host(capabilities={})
    assert set_level(host, "debug")["result"] == {}
    assert find_levels(host) == []
