"""What a view says beside its answer, under each envelope and over plain HTTP."""

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
from tests.dispatch.views import answering, raising
from tests.envelopes.conftest import ENVELOPES


def noted(request) -> Response:
    """Answer with a warning, a suggestion and a measurement."""
    notes = call_context(request)
    notes.warn("Prices are from yesterday.", code="STALE_CACHE", context={"hours": 20})
    notes.warn("One source failed.", code="PARTIAL_FAILURE", remediation="Ask source b again.")
    notes.suggest("Call refresh first.")
    notes.measure(downstream_calls=3)
    return Response({"a": 1})


def test_plain_has_the_body_alone_and_the_notes_in_a_block_of_their_own(serve):
    body, notes = serve(answering(noted)).call("plain").raw["content"]
    assert json.loads(body["text"]) == {"a": 1}
    told = json.loads(notes["text"])
    assert told["suggestions"] == ["Call refresh first."]
    codes = [detail["code"] for detail in told["warning_details"]]
    assert codes == ["STALE_CACHE", "PARTIAL_FAILURE"]


SUGGESTED = {
    "response_v2": lambda raw: raw["structuredContent"]["meta"]["suggestions"],
    "ok": lambda raw: raw["structuredContent"]["meta"]["suggestions"],
    "status": lambda raw: raw["structuredContent"]["suggestions"],
    "plain": lambda raw: json.loads(raw["content"][1]["text"])["suggestions"],
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("fails", [False, True], ids=["success", "failure"])
def test_a_suggestion_is_heard_in_every_envelope(serve, envelope, fails):
    def view(request) -> Response:
        call_context(request).suggest("Call refresh first.")
        if fails:
            raise serializers.ValidationError("no")
        return Response({"a": 1})

    raw = serve(answering(view)).call(envelope).raw
    assert "Call refresh first." in SUGGESTED[envelope](raw)


def test_plain_http_is_not_changed_by_notes(serve):
    def silent(request) -> Response:
        return Response({"a": 1})

    response = serve(answering(noted)).http.get("/thing/")
    untold = serve(answering(silent)).http.get("/thing/")
    assert response.content == untold.content
    assert dict(response.headers) == dict(untold.headers)


def test_a_serializer_writes_to_the_notes_of_its_request(serve):
    class Name(serializers.Serializer):
        name = serializers.SerializerMethodField()

        def get_name(self, value) -> str:
            call_context(self.context["request"]).warn("It has two names.")
            return "a"

    def view(request) -> Response:
        return Response(Name({}, context={"request": request}).data)

    assert serve(answering(view)).read()["meta"]["warnings"] == ["It has two names."]


def test_djangos_request_has_the_same_notes(serve):
    def view(request) -> Response:
        call_context(request._request).warn("Below.")
        assert call_context(request) is call_context(request._request)
        return Response({})

    assert serve(answering(view)).read()["meta"]["warnings"] == ["Below."]


def test_a_view_that_answers_without_rest_framework_may_write_notes(serve):
    def view(request) -> HttpResponse:
        call_context(request).warn("As text.")
        return HttpResponse("hello", content_type="text/plain")

    assert serve(answering(view)).read()["meta"]["warnings"] == ["As text."]


def test_a_failure_keeps_what_was_noted_before(serve):
    def view(request) -> Response:
        call_context(request).warn("The index is being rebuilt.")
        raise serializers.ValidationError("no")

    envelope = serve(answering(view)).read()
    assert envelope["success"] is False
    assert envelope["meta"]["warnings"] == ["The index is being rebuilt."]


def test_the_notes_of_one_call_are_not_those_of_the_next(serve):
    calls: list[int] = []

    def view(request) -> Response:
        calls.append(1)
        if len(calls) == 1:
            call_context(request).warn("Once.")
        return Response({})

    thing = serve(answering(view))
    thing.call()
    assert "warnings" not in thing.read()["meta"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_notes_reach_clients_of_every_revision(serve, revision):
    thing = serve(answering(noted))
    agent = thing.agent("response_v2")
    agent.revision = revision
    assert len(agent.call("thing").envelope["meta"]["warnings"]) == 2


@pytest.mark.parametrize(
    ("given", "seen"), [("info", Severity.INFO), (Severity.ERROR, Severity.ERROR)]
)
def test_a_severity_may_be_given(rf, given, seen):
    request = rf.get("/")
    call_context(request).warn("Something.", severity=given)
    assert notes_of(request).warnings[0].severity is seen


def test_an_unknown_severity_is_refused(rf):
    with pytest.raises(ValueError, match="grave"):
        call_context(rf.get("/")).warn("Something.", severity="grave")


def test_a_request_nobody_noted_anything_on_has_none(rf):
    assert notes_of(rf.get("/")) is None


def test_a_crash_says_nothing_of_the_view(serve):
    assert "warnings" not in serve(raising(ZeroDivisionError())).read()["meta"]
