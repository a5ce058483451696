"""Soft failures: a call that worked, with a negative answer."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, NotFound, PermissionDenied
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from drf_mcp.exceptions import SoftFailure
from tests.dispatch.views import raising


def soft(**options: Any) -> SoftFailure:
    return SoftFailure("The chain is broken.", "chain_broken", **options)


def test_over_http_it_is_a_200_with_the_error(thing):
    """Plain has the same body as HTTP."""
    response = thing.answer_with(soft(data={"links": 2})).http.get("/thing/")
    assert response.status_code == 200
    expected = {"detail": "The chain is broken.", "data": {"links": 2}}
    assert response.json() == thing.read("plain") == expected
    assert thing.answer_with(soft(data=None)).get() == thing.read("plain")


def test_it_has_a_default_code_and_message(thing):
    (error,) = thing.answer_with(SoftFailure()).read("ok")["errors"]
    assert (error["code"], error["message"]) == ("soft_failure", "The answer is no.")
    assert error["fix_hint"]


class Chain(serializers.Serializer):
    links = serializers.ListField(child=serializers.CharField())
    name = serializers.CharField(required=False)


class Checking(APIView):
    permission_classes = []
    serializer_class = Chain
    detail: Any = None

    def post(self, request) -> Response:
        raise SoftFailure(self.detail)


@pytest.mark.slow
def test_details_by_argument_point_to_the_arguments(serve):
    """Several messages without an argument are several errors."""
    detail = {
        "links": {1: ErrorDetail("Link 1 is loose.", "loose")},
        "name": [ErrorDetail("A name is needed.", "required")],
    }
    thing = serve(Checking.as_view(detail=detail))
    problems = thing.call(links=["a", "b"]).problems
    assert [(p["pointer"], p["code"], p["message"]) for p in problems] == [
        ("/links/1", "loose", "Link 1 is loose."),
        ("/name", "required", "A name is needed."),
    ]
    assert problems[0]["received"] == "b"
    assert thing.read("ok", links=["a", "b"])["errors"][0]["path"] == "links[1]"

    thing = serve(Checking.as_view(detail=["Too long.", "Too thin."]))
    messages = [error["message"] for error in thing.read("ok", links=[])["errors"]]
    assert messages == ["Too long.", "Too thin."]


class Writing(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        Group.objects.create(name="written")
        raise soft()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("atomic", [True, False])
def test_writes_are_rolled_back_if_requests_are_atomic(serve, monkeypatch, atomic):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", atomic)
    assert "isError" not in serve(Writing.as_view()).call("ok").raw
    assert Group.objects.filter(name="written").exists() is not atomic


def wrapping(exc: Exception, context: dict) -> Response:
    response = exception_handler(exc, context)
    response.data = {"error": response.data, "version": 3}
    return response


def rewriting(exc: Exception, context: dict) -> Response:
    return Response({"code": 1, "message": str(getattr(exc, "detail", exc))})


def test_an_exception_handler_may_wrap_it(thing, monkeypatch):
    monkeypatch.setattr(APIView, "get_exception_handler", lambda self: wrapping)
    result = thing.answer_with(soft(data={"links": 2}, remediation="Close it.")).call("ok")
    assert "isError" not in result.raw
    assert result.envelope["data"] == {"links": 2}
    assert result.envelope["errors"] == [
        {"code": "chain_broken", "message": "The chain is broken.", "fix_hint": "Close it."}
    ]
    assert thing.read("plain") == thing.get()


def test_an_exception_that_a_handler_answers_with_200_is_a_failure(thing, monkeypatch):
    monkeypatch.setattr(APIView, "get_exception_handler", lambda self: rewriting)
    for exc in (soft(), NotFound("Gone."), PermissionDenied("Gone.")):
        result = thing.answer_with(exc).call("ok")
        assert "isError" not in result.raw
        assert result.envelope["ok"] is False
        assert result.envelope["errors"][0]["message"]


def test_the_code_is_kept_with_another_renderer_and_the_answer_is_what_it_writes(serve):
    class Loud(JSONRenderer):
        def render(self, *args: Any, **kwargs: Any) -> bytes:
            return super().render(*args, **kwargs).replace(b"links", b"LINKS")

    view = raising(soft(data={"links": 2}))
    view.cls.renderer_classes = [Loud]
    thing = serve(view)
    envelope = thing.read("ok")
    assert envelope["errors"][0]["code"] == "chain_broken"
    assert envelope["data"] == thing.get()["data"] == {"LINKS": 2}
