"""Caching, conditional requests, throttles, versions and coroutines of views."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import JsonResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import condition, etag
from rest_framework import throttling
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.dispatch.views import answering


def make_counting_view(calls: list[int]) -> Any:
    class Counter(APIView):
        permission_classes = []

        def get(self, request) -> Response:
            calls.append(1)
            return Response({"call": len(calls)})

    return Counter


@pytest.mark.parametrize("replacement", [None, {"b": 2}])
def test_a_post_render_callback_runs_and_may_replace_the_response(serve, replacement):
    rendered: list[bytes] = []

    def finish(done) -> Any:
        rendered.append(done.content)
        return None if replacement is None else JsonResponse(replacement)

    def answer(request) -> Response:
        response = Response({"a": 1})
        response.add_post_render_callback(finish)
        return response

    thing = serve(answering(answer))
    assert thing.call().data == (replacement or {"a": 1})
    assert rendered == [b'{"a":1}']
    assert thing.call().data == thing.get().json()


def test_a_conditional_view_never_answers_304(subtests, serve):
    for decorator in [
        etag(lambda request: "fixed"),
        condition(etag_func=lambda request: "fixed"),
        never_cache,
    ]:
        with subtests.test(decorator=decorator):
            view_class = method_decorator(decorator, name="dispatch")(make_counting_view([]))
            thing = serve(view_class.as_view())
            message, headers = thing.agent.frame(
                "tools/call", {"name": thing.tool, "arguments": {}}
            )
            stale = {
                "If-None-Match": '"fixed"',
                "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT",
            }
            answers = [thing.agent.post(message, {**headers, **stale}).json() for _ in range(2)]
            data = [answer["result"]["structuredContent"]["data"] for answer in answers]
            assert data == [{"call": 1}, {"call": 2}]


class TwicePerMinute(throttling.SimpleRateThrottle):
    scope = "two"
    THROTTLE_RATES = {"two": "2/min"}

    def get_cache_key(self, request, view):
        return f"two-{request.META['REMOTE_ADDR']}"


class Scoped(throttling.ScopedRateThrottle):
    THROTTLE_RATES = {"hats": "2/min"}


class PerAddress(throttling.AnonRateThrottle):
    THROTTLE_RATES = {"anon": "2/min"}


def test_http_requests_and_calls_count_for_the_same_throttle(subtests, serve):
    for throttle in [TwicePerMinute, Scoped, PerAddress]:
        with subtests.test(throttle=throttle):
            view = answering(lambda request: Response({}))
            view.cls.throttle_classes = [throttle]
            view.cls.throttle_scope = "hats"
            thing = serve(view)
            assert not thing.call().is_error
            assert thing.get().status_code == 200
            over_http, result = thing.get(), thing.call()
            assert over_http.status_code == 429
            assert result.code == "RATE_LIMIT_EXCEEDED"
            seconds = int(over_http.headers["Retry-After"])
            assert result.data["retry_after_seconds"] in {seconds - 1, seconds}


class Versioned(APIView):
    permission_classes = []

    def get(self, request, **kwargs: Any) -> Response:
        return Response(
            {"version": request.version, "url": request.versioning_scheme.__class__.__name__}
        )


def test_a_view_with_an_asynchronous_callback_is_run(serve):
    class Things(APIView):
        permission_classes = []

        def get(self, request) -> Response:
            return Response({"a": 1})

    plain = Things.as_view()

    async def callback(request, *args: Any, **kwargs: Any) -> Any:
        return plain(request, *args, **kwargs)

    callback.cls, callback.initkwargs, callback.csrf_exempt = Things, {}, True
    thing = serve(callback)
    assert thing.call().data == thing.get().json() == {"a": 1}
