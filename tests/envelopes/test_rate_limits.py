"""The caller's quota in the envelope, which is read from the view's own throttles."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.core.cache import cache
from django.core.cache.backends.db import DatabaseCache
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.throttling import (
    AnonRateThrottle,
    BaseThrottle,
    ScopedRateThrottle,
    SimpleRateThrottle,
    UserRateThrottle,
)
from rest_framework.views import APIView

from drf_mcp.access.throttles import find_rate_limit
from drf_mcp.renderers import EnvelopeJSONRenderer


class Few(UserRateThrottle):
    scope, rate = "few", "3/hour"


class Many(UserRateThrottle):
    scope, rate = "many", "20/min"


class Anonymous(AnonRateThrottle):
    rate = "3/hour"


class User(UserRateThrottle):
    rate = "3/hour"


class Scoped(ScopedRateThrottle):
    THROTTLE_RATES = {"things": "3/hour"}


class Nobody(Few):
    def get_cache_key(self, request, view) -> None:
        return None


class Other(BaseThrottle):
    def allow_request(self, request, view) -> bool:
        return True

    def wait(self) -> int:
        return 12


class Bucket(Few):
    """Stores a value of another type under the throttle's key."""

    def allow_request(self, request, view) -> bool:
        self.cache.set(self.get_cache_key(request, view), {"tokens": 2})
        return True


class Thing(APIView):
    permission_classes = []
    throttle_scope = "things"

    def get(self, request) -> Response:
        return Response({})


@pytest.fixture
def counted(serve):
    def make(*throttles: type, view: type[APIView] = Thing):
        served = serve(view.as_view(**({"throttle_classes": throttles} if throttles else {})))

        def call(envelope: str = "response_v2") -> dict[str, Any]:
            return served.read(envelope)

        call.served = served
        return call

    return make


def limit_of(envelope: dict[str, Any]) -> dict[str, Any] | None:
    limit = envelope["meta"].get("rate_limit")
    return limit and {name: limit[name] for name in limit if name != "reset_at"}


def test_a_success_has_the_remaining_quota(counted):
    """A rejected call has the time to wait, and no warning."""
    for throttle in (Few, Anonymous, User, Scoped):
        cache.clear()
        call = counted(throttle)
        envelopes = [call() for _ in range(4)]
        seen = [limit_of(envelope) for envelope in envelopes]
        assert seen[:2] == [{"limit": 3, "remaining": left, "period": "hour"} for left in (2, 1)]
        used_up = {"limit": 3, "remaining": 0, "period": "hour", "retry_after": 3600}
        assert seen[2:] == [used_up, used_up]
        # Reading the quota counts no call: as many calls succeed as over plain HTTP.
        assert [envelope["success"] for envelope in envelopes] == [True, True, True, False]
        assert "warnings" in envelopes[2]["meta"]
        assert "warnings" not in envelopes[3]["meta"]


def test_the_tightest_of_several_throttles_wins(counted):
    call = counted(Many, Few)
    assert [limit_of(call())["limit"] for _ in range(2)] == [3, 3]


def test_of_two_exhausted_quotas_the_longer_wait_is_given(counted):
    class Brief(Many):
        rate = "3/min"

    call = counted(Brief, Few)
    last = [limit_of(call()) for _ in range(3)][-1]
    assert (last["remaining"], last["period"]) == (0, "hour")


def test_the_reset_is_the_time_when_the_oldest_call_expires(counted, monkeypatch):
    now = 1_790_000_000.0
    monkeypatch.setattr(SimpleRateThrottle, "timer", lambda self: now)
    call = counted(Few)
    call()
    now += 100
    assert call()["meta"]["rate_limit"]["reset_at"] == "2026-09-21T15:13:20Z"
    now += 3550
    assert limit_of(call())["remaining"] == 1


def test_a_throttle_without_a_history_of_the_caller_has_no_rate_limit(counted):
    for throttle in (Other, Nobody, Bucket):
        envelope = counted(throttle)()
        assert envelope["success"]
        assert limit_of(envelope) is None


def test_a_429_of_a_throttle_without_a_history_has_its_retry_after(counted):
    class Refusing(Other):
        def allow_request(self, request, view) -> bool:
            return False

    refused = counted(Refusing)()
    assert limit_of(refused) == {"retry_after": 12}
    assert refused["data"]["retry_after_seconds"] == 12


class Counter(BaseThrottle):
    """Counts by itself, in the memory of the process, with the newest request last."""

    num_requests, duration, seen = 3, 60, []

    def allow_request(self, request, view) -> bool:
        self.now = time.time()
        self.seen.append(self.now)
        self.history = self.seen[-3:]
        return True


class OnceMade(Thing):
    """Has the same throttle for all requests, which counts those of staff alone."""

    class Staff(Few):
        def get_cache_key(self, request, view) -> str | None:
            return "staff" if request.query_params.get("staff") else None

    made = Staff()

    def get_throttles(self) -> list[BaseThrottle]:
        return [self.made]


def test_a_throttle_that_counts_in_its_own_way_has_a_quota(counted):
    call = counted(Counter)
    assert [limit_of(call())["remaining"] for _ in range(3)] == [2, 1, 0]


def test_a_clock_without_the_time_of_day_gives_no_time_of_reset(counted):
    class SinceStart(Few):
        timer = time.monotonic

    assert counted(SinceStart)()["meta"]["rate_limit"] == {
        "limit": 3,
        "remaining": 2,
        "period": "hour",
    }


def test_what_a_throttle_counted_for_another_request_is_no_quota_of_this_one(counted):
    call = counted(view=OnceMade)
    factory = APIRequestFactory()
    OnceMade.as_view()(factory.get("/", {"staff": "1"}))
    assert OnceMade.made.history
    assert limit_of(call()) is None


def test_a_low_remaining_quota_gives_a_warning(counted):
    call = counted(Many)
    warned = [call()["meta"].get("warning_details") for _ in range(20)]
    assert warned[:17] == [None] * 17
    (detail,) = warned[17]
    assert detail["code"] == "RATE_LIMIT_APPROACHING"
    assert detail["severity"] == "warning"
    assert (detail["context"]["remaining"], detail["context"]["limit"]) == (2, 20)
    assert detail["message"] == "2 of 20 calls are left in this period."
    assert warned[18][0]["context"]["remaining"] == 1
    assert warned[19][0]["context"]["remaining"] == 0


def test_every_envelope_with_metadata_has_the_rate_limit(counted):
    call = counted(Few)
    limits = [call("ok")["meta"]["rate_limit"], call("status")["metadata"]["rate_limit"]]
    assert [(limit["limit"], limit["remaining"]) for limit in limits] == [(3, 2), (3, 1)]


def test_an_envelope_over_http_has_the_quota_that_the_request_left(serve):
    view = Thing.as_view(throttle_classes=[Few], renderer_classes=[EnvelopeJSONRenderer])
    served = serve(view)
    limits = [limit_of(served.http.get("/thing/").json()) for _ in range(2)]
    assert [limit["remaining"] for limit in limits] == [2, 1]


def test_http_and_tool_calls_share_one_quota(counted):
    call = counted(Few)
    call.served.http.get("/thing/")
    assert limit_of(call())["remaining"] == 1


@pytest.mark.django_db
def test_over_http_no_cache_in_the_database_is_asked_for_the_quota(django_assert_num_queries):
    class InDatabase(Anonymous):
        cache = DatabaseCache("a_table", {})

    request = Request(APIRequestFactory().get("/"))
    view = APIView(throttle_classes=[InDatabase], request=request)
    with django_assert_num_queries(0):
        assert find_rate_limit(view, None, 200, {}) is None
