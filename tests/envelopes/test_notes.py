"""Warnings, suggestions and measurements of a view, in each envelope and over plain HTTP."""

from __future__ import annotations

import json

import pytest
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.interaction.call_context import notes_of
from drf_mcp.outcomes import Severity
from tests.agents import REVISIONS


def noted(request) -> Response:
    """Answer with a warning, a suggestion and a measurement."""
    notes = call_context(request)
    notes.warn("Prices are from yesterday.", code="STALE_CACHE", context={"hours": 20})
    notes.warn("One source failed.", code="PARTIAL_FAILURE", remediation="Ask source b again.")
    notes.suggest("Call refresh first.")
    notes.measure(downstream_calls=3)
    return Response({"a": 1})


def test_plain_has_the_body_and_the_notes_in_separate_blocks(thing):
    body, notes = thing.answer_with(noted).call("plain").raw["content"]
    assert json.loads(body["text"]) == {"a": 1}
    content = json.loads(notes["text"])
    assert content["suggestions"] == ["Call refresh first."]
    codes = [detail["code"] for detail in content["warning_details"]]
    assert codes == ["STALE_CACHE", "PARTIAL_FAILURE"]


SUGGESTED = {
    "response_v2": lambda raw: raw["structuredContent"]["meta"]["suggestions"],
    "ok": lambda raw: raw["structuredContent"]["meta"]["suggestions"],
    "status": lambda raw: raw["structuredContent"]["suggestions"],
    "plain": lambda raw: json.loads(raw["content"][1]["text"])["suggestions"],
}


def test_every_envelope_has_suggestions(thing):
    """Of a success and of a failure."""

    def suggesting(request) -> Response:
        call_context(request).suggest("Call refresh first.")
        return Response({"a": 1})

    def failing(request) -> Response:
        call_context(request).suggest("Call refresh first.")
        raise serializers.ValidationError("no")

    for view in (suggesting, failing):
        thing.answer_with(view)
        for envelope, read in SUGGESTED.items():
            assert "Call refresh first." in read(thing.call(envelope).raw)


def test_plain_http_is_not_changed_by_notes(thing):
    response = thing.answer_with(noted).http.get("/thing/")
    untold = thing.answer_with({"a": 1}).http.get("/thing/")
    assert response.content == untold.content
    assert dict(response.headers) == dict(untold.headers)


def test_a_serializer_can_add_notes_to_its_request(thing):
    class Name(serializers.Serializer):
        name = serializers.SerializerMethodField()

        def get_name(self, value) -> str:
            call_context(self.context["request"]).warn("It has two names.")
            return "a"

    def view(request) -> Response:
        return Response(Name({}, context={"request": request}).data)

    assert thing.answer_with(view).read()["meta"]["warnings"] == ["It has two names."]


def test_djangos_request_has_the_same_notes(thing):
    def view(request) -> Response:
        call_context(request._request).warn("Below.")
        assert call_context(request) is call_context(request._request)
        return Response({})

    assert thing.answer_with(view).read()["meta"]["warnings"] == ["Below."]


def test_a_view_with_djangos_response_can_add_notes(thing):
    def view(request) -> HttpResponse:
        call_context(request).warn("As text.")
        return HttpResponse("hello", content_type="text/plain")

    assert thing.answer_with(view).read()["meta"]["warnings"] == ["As text."]


def test_a_failure_keeps_the_notes_of_its_own_call(thing):
    """The notes of one call do not appear in the next."""

    def view(request) -> Response:
        call_context(request).warn("The index is being rebuilt.")
        raise serializers.ValidationError("no")

    envelope = thing.answer_with(view).read()
    assert envelope["success"] is False
    assert envelope["meta"]["warnings"] == ["The index is being rebuilt."]
    assert "warnings" not in thing.answer_with({}).read()["meta"]
    assert "warnings" not in thing.answer_with(ZeroDivisionError()).read()["meta"]


def test_notes_reach_clients_of_every_revision(thing):
    agent = thing.answer_with(noted).agent("response_v2")
    for agent.revision in REVISIONS:
        assert len(agent.call("thing").envelope["meta"]["warnings"]) == 2


def test_a_severity_may_be_given(rf):
    request = rf.get("/")
    assert notes_of(request) is None
    for given in ("info", Severity.ERROR):
        call_context(request).warn("Something.", severity=given)
    found = [warning.severity for warning in notes_of(request).warnings]
    assert found == [Severity.INFO, Severity.ERROR]
    with pytest.raises(ValueError, match="grave"):
        call_context(request).warn("Something.", severity="grave")
