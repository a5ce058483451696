"""Throttles and time limits of tool calls."""

from __future__ import annotations

import asyncio
import time

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import permissions, throttling
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.dispatch import guards
from drf_mcp.views import MCPView

TOKENS = ["rest_framework.authentication.TokenAuthentication"]
HERE = "tests.dispatch.test_limits"


class TwoAMinute(throttling.UserRateThrottle):
    rate = "2/min"


class TenAMinute(throttling.UserRateThrottle):
    """Has another scope, so that it counts apart from TwoAMinute."""

    rate = "10/min"
    scope = "ten"


class AnonymousOnce(throttling.AnonRateThrottle):
    rate = "1/min"


class ByScope(throttling.ScopedRateThrottle):
    THROTTLE_RATES = {"searches": "1/min", "exports": "2/min", "views": "1/min"}


class Never(throttling.BaseThrottle):
    """Refuses every request, without a history or a wait."""

    calls: list = []

    def allow_request(self, request, view) -> bool:
        self.calls.append((request.user.username, type(view).__name__, view.kwargs))
        return False


class Open(APIView):
    permission_classes = [permissions.AllowAny]

    def get(self, request) -> Response:
        return Response({})

    def post(self, request) -> Response:
        return Response({})


class Limited(Open):
    throttle_classes = [TwoAMinute]
    http_method_names = ["get"]


class Scoped(Open):
    throttle_scope = "views"
    http_method_names = ["get"]


class Restricting(Scoped):
    throttle_classes = [ByScope]


class NeverView(Open):
    throttle_classes = [Never]
    http_method_names = ["get"]


@mcp_tool(throttle_scope="searches")
class Searching(Open):
    http_method_names = ["get"]


class Things(Open):
    http_method_names = ["get"]

    def get(self, request, pk: int) -> Response:
        return Response({"pk": pk})


class Loop(Open):
    """Query the database for twenty seconds."""

    http_method_names = ["post"]

    def post(self, request) -> Response:
        Group.objects.create(name="late")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            Group.objects.count()
        return Response({"ended": True})


@mcp_tool(time_limit=0)
class Endless(Open):
    http_method_names = ["get"]

    def get(self, request) -> Response:
        time.sleep(0.01)
        return Response({"groups": Group.objects.count()})


class Nested(Loop):
    def post(self, request) -> Response:
        with transaction.atomic():
            return super().post(request)


PATTERNS = [
    path("open/", Open.as_view()),
    path("limited/", Limited.as_view()),
    path("scoped/", Scoped.as_view()),
    path("restricting/", Restricting.as_view()),
    path("never/", NeverView.as_view()),
    path("searching/", Searching.as_view()),
    path("things/<int:pk>/", Things.as_view()),
    path("loop/", Loop.as_view()),
    path("nested/", Nested.as_view()),
    path("endless/", Endless.as_view()),
]


@pytest.fixture
def limited(expose, agent_of):
    """Serve an endpoint with these throttles; returns alice's agent."""

    def limited(*classes: type, **mcp_settings):
        names = [f"{HERE}.{throttle.__name__}" for throttle in classes]
        expose(*PATTERNS, AUTHENTICATION_CLASSES=TOKENS, THROTTLE_CLASSES=names, **mcp_settings)
        return agent_of("alice")

    return limited


def codes(agent, *tools: str) -> list[str]:
    results = [agent.call(tool) for tool in tools]
    return [result.code if result.is_error else "" for result in results]


FULL = "RATE_LIMIT_EXCEEDED"


def test_calls_of_all_tools_of_a_user_count_together(limited, agent_of):
    alice = limited(TwoAMinute)
    assert codes(alice, "open_get", "scoped_get", "open_get") == ["", "", FULL]
    assert codes(agent_of("bob"), "open_get") == [""]


def test_a_refusal_says_how_long_to_wait(limited):
    alice = limited(TwoAMinute)
    codes(alice, "open_get", "open_get")
    refused = alice.call("open_get")
    seconds = refused.data["retry_after_seconds"]
    assert 55 <= seconds <= 60
    assert refused.data["remediation"] == f"Wait {seconds} seconds before calling again."
    quota = refused.envelope["meta"]["rate_limit"]
    assert (quota["limit"], quota["remaining"], quota["retry_after"]) == (2, 0, seconds)


def test_a_result_says_how_many_calls_are_left(limited):
    alice = limited(TenAMinute)
    assert alice.call("open_get").envelope["meta"]["rate_limit"]["remaining"] == 9
    codes(alice, *["open_get"] * 7)
    envelope = alice.call("open_get").envelope
    assert envelope["meta"]["rate_limit"]["remaining"] == 1
    assert str(envelope["meta"]["warnings"]).count("calls are left") == 1


def test_a_throttle_of_the_endpoint_and_the_view_counts_a_call_once(limited):
    alice = limited(TwoAMinute)
    assert codes(alice, "limited_get", "limited_get", "limited_get") == ["", "", FULL]


def test_http_requests_and_calls_of_a_view_count_together(limited, http_of):
    alice = limited(TwoAMinute)
    assert codes(alice, "limited_get") == [""]
    assert http_of("alice").get("/limited/").status_code == 200
    assert codes(alice, "limited_get", "open_get") == [FULL, FULL]


def test_anonymous_callers_count_by_address(limited, agent_of):
    limited(AnonymousOnce)
    anonymous = agent_of(None)
    assert codes(anonymous, "open_get", "open_get") == ["", FULL]
    anonymous.http.defaults["REMOTE_ADDR"] = "192.0.2.7"
    assert codes(anonymous, "open_get") == [""]


def test_calls_with_refused_arguments_are_not_counted(limited):
    alice = limited(TwoAMinute)
    assert codes(alice, "things_get", "things_get", "open_get", "open_get") == [
        *["MISSING_REQUIRED"] * 2,
        *[""] * 2,
    ]


def test_a_throttle_class_that_is_no_throttle_is_an_error():
    with pytest.raises(ImproperlyConfigured, match="throttle_classes"):
        MCPView.as_view(throttle_classes=[Open])


@given(tools=st.lists(st.sampled_from(["open_get", "limited_get", "restricting_get"]), max_size=5))
def test_no_order_of_calls_counts_a_call_twice(limited, tools):
    from django.core.cache import cache

    cache.clear()
    alice = limited(TwoAMinute)
    user = User.objects.get(username="alice")
    for tool in tools:
        alice.call(tool)
    history = cache.get(f"throttle_user_{user.pk}", [])
    # The view's own throttle is never exhausted before the endpoint's.
    assert len(history) == min(len(tools), 2)


# --- Time limits -----------------------------------------------------------------------------


@pytest.fixture
def quarter_seconds(monkeypatch):
    """Makes each second of a time limit a quarter of a second."""
    made = guards.Deadline.__init__

    def init(self, seconds):
        made(self, seconds / 4)
        self.seconds = seconds

    monkeypatch.setattr(guards.Deadline, "__init__", init)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["loop_post", "nested_post"])
def test_a_call_over_its_time_limit_is_stopped(limited, quarter_seconds, tool):
    alice = limited(TIME_LIMIT=1)
    began = time.monotonic()
    result = alice.call(tool)
    assert time.monotonic() - began < 15
    assert result.code == "TIME_LIMIT_EXCEEDED"
    assert "longer than 1 s" in result.envelope["error"]


@pytest.mark.slow
def test_writes_of_a_stopped_call_are_rolled_back(limited, quarter_seconds, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    assert limited(TIME_LIMIT=1).call("loop_post").is_error
    assert not Group.objects.filter(name="late").exists()


def test_a_tool_may_have_its_own_time_limit(limited, monkeypatch):
    monkeypatch.setattr(guards.Deadline, "left", 0)
    assert codes(limited(TIME_LIMIT=1), "endless_get") == [""]


def test_a_coroutine_over_its_time_limit_is_cancelled(expose, agent_of, quarter_seconds):
    cancelled = []

    async def callback(request, *args, **kwargs):
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    callback.cls, callback.initkwargs, callback.csrf_exempt = Things, {}, True
    expose(path("waiting/", callback), TIME_LIMIT=1)
    assert agent_of("alice").call("waiting_get").code == "TIME_LIMIT_EXCEEDED"
    assert cancelled == [True]
