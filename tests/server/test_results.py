"""Results of ``tools/call``: refused arguments, crashes, and what cannot be written."""

from __future__ import annotations

import json
import logging

import pytest
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import path
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from tests.agents import REVISIONS, Agent, Result

ENVELOPES = [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]
SECRET = "hunter2 at postgres://admin"


class Word(APIView):
    """Repeat a word."""

    permission_classes = []
    ran = 0

    def get(self, request, pk: str) -> Response:
        type(self).ran += 1
        return Response({"pk": pk})


class Answers(APIView):
    """Answer with what the test wants."""

    permission_classes = []
    answer: object = None

    def get(self, request) -> Response:
        return Response(self.answer)


class Crashes(APIView):
    """Crash."""

    permission_classes = []

    def get(self, request) -> Response:
        raise RuntimeError(SECRET)


class CrashingPermission(BasePermission):
    """Crashes when asked."""

    def has_permission(self, request, view) -> bool:
        raise RuntimeError(SECRET)


class Guarded(Answers):
    permission_classes = [CrashingPermission]


class Secretive:
    """An object that says something it should not."""

    def __repr__(self) -> str:
        return SECRET


def circle() -> list:
    """A list that holds itself."""
    items: list = []
    items.append(items)
    return items


@pytest.fixture
def agent(expose) -> Agent:
    """An agent for ``word``, whose test client does not raise a view's exception again."""
    expose(
        path("word/<int:pk>/", Word.as_view()),
        path("crashes/", Crashes.as_view()),
        path("guarded/", Guarded.as_view()),
    )
    return Agent(Client(raise_request_exception=False))


@pytest.fixture
def reported():
    """The exceptions of which error trackers hear."""
    seen = []

    def receiver(sender, request=None, **kwargs) -> None:
        seen.append(request)

    got_request_exception.connect(receiver)
    yield seen
    got_request_exception.disconnect(receiver)


def sent(agent: Agent, name: str, arguments) -> Result:
    """Call with arguments that no well-behaved client would send."""
    message, headers = agent.frame("tools/call", {"name": name, "arguments": arguments})
    return Result(agent.read("tools/call", agent.post(message, headers))["result"])


# --- Arguments that cannot be bound -------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], [1], "", '{"pk": 1}', 5, True, 0.5])
def test_arguments_that_are_no_object_are_a_result_the_model_can_read(agent, arguments):
    result = sent(agent, "word", arguments)
    assert result.is_error
    assert result.code == "INVALID_FORMAT"
    assert result.problems[0]["accepted"] == "a JSON object"
    assert result.problems[0]["received"] == arguments


@pytest.mark.parametrize("arguments", [{}, None, {"pk": None}])
def test_a_missing_path_argument_is_named(agent, arguments):
    result = sent(agent, "word", arguments)
    assert result.code == "MISSING_REQUIRED"
    assert [(p["pointer"], p["code"]) for p in result.problems] == [("/pk", "required")]


def test_absent_arguments_are_as_good_as_none(agent):
    message, headers = agent.frame("tools/call", {"name": "word"})
    result = Result(agent.read("tools/call", agent.post(message, headers))["result"])
    assert result.code == "MISSING_REQUIRED"


def test_an_unknown_argument_is_refused_with_the_nearest_name(agent):
    result = agent.call("word", pkk=5)
    problem = next(p for p in result.problems if p["code"] == "unknown")
    assert (problem["pointer"], problem["received"], problem["accepted"]) == ("/pkk", 5, "pk")
    assert "Did you mean 'pk'?" in problem["remediation"]


def test_refused_arguments_do_not_reach_the_view(agent):
    before = Word.ran
    agent.call("word", pk=1, nonsense=1)
    assert Word.ran == before


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_refused_arguments_are_is_error_in_every_revision_and_envelope(expose, revision, envelope):
    expose(path("word/<int:pk>/", Word.as_view()), ENVELOPE_CLASS=envelope)
    assert Agent(Client(), revision=revision).call("word", nonsense=1).is_error


@pytest.mark.parametrize("value", ["x", -1, 1.5, True, [1], {"a": 1}, "1/../2", "", "\uff11"])
def test_a_value_that_the_route_refuses_is_not_found(agent, value):
    before = Word.ran
    result = agent.call("word", pk=value)
    assert (result.code, Word.ran) == ("NOT_FOUND", before)


@pytest.mark.parametrize("value", [7, "7"])
def test_a_number_may_come_as_a_string(agent, value):
    assert agent.call("word", pk=value).data == {"pk": 7}


# --- Crashes ------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["crashes", "guarded"])
def test_a_crash_tells_a_request_id_and_nothing_else(agent, tool):
    result = agent.call(tool)
    assert (result.is_error, result.code) == (True, "INTERNAL_ERROR")
    assert result.envelope["meta"]["request_id"] in result.envelope["error"]
    assert "hunter2" not in json.dumps(result.raw)
    assert "RuntimeError" not in json.dumps(result.raw)


def test_a_crash_is_logged_once_with_its_traceback_under_the_id(agent, caplog):
    with caplog.at_level(logging.WARNING):
        result = agent.call("crashes")
    (record,) = caplog.records
    assert record.name == "drf_mcp"
    assert result.envelope["meta"]["request_id"] in record.getMessage()
    assert str(record.exc_info[1]) == SECRET


def test_error_trackers_hear_of_a_crash_once(agent, reported):
    agent.call("crashes")
    (request,) = reported
    assert request.path == "/crashes/"


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_crash_leaks_nothing_in_any_envelope(expose, envelope):
    expose(path("crashes/", Crashes.as_view()), ENVELOPE_CLASS=envelope)
    result = Agent(Client(raise_request_exception=False)).call("crashes")
    assert result.is_error
    assert "hunter2" not in json.dumps(result.raw)


# --- What cannot be written ---------------------------------------------------------------

UNWRITABLE = {
    "object": Secretive(),
    "NaN": float("nan"),
    "infinity": {"deep": [float("-inf")]},
    "circle": circle(),
    "key": {(1, 2): 3},
}


@pytest.fixture
def unwritable(expose):
    """Return the result of a view that answers with a value."""

    def call(value: object, **mcp_settings) -> Result:
        expose(path("answers/", Answers.as_view(answer=value)), **mcp_settings)
        return Agent(Client(raise_request_exception=False)).call("answers")

    return call


@pytest.mark.parametrize("value", UNWRITABLE.values(), ids=UNWRITABLE)
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_a_value_that_is_no_json_is_an_internal_error(unwritable, value, envelope):
    result = unwritable(value, ENVELOPE_CLASS=envelope)
    assert result.is_error
    assert "hunter2" not in json.dumps(result.raw)
    assert "The answer cannot be written as JSON" in result.raw["content"][0]["text"]


def test_a_value_that_is_no_json_is_logged_once_and_reported_once(unwritable, reported, caplog):
    with caplog.at_level(logging.WARNING):
        result = unwritable(float("nan"))
    (record,) = caplog.records
    assert result.code == "INTERNAL_ERROR"
    assert result.envelope["meta"]["request_id"] in record.getMessage()
    assert record.exc_info[1] is not None
    assert len(reported) == 1


def test_half_a_surrogate_pair_of_a_view_is_replaced(unwritable):
    assert unwritable({"text": "a\ud800b"}).data == {"text": "a\ufffdb"}


@pytest.mark.parametrize("envelope", [ResponseV2Envelope, OkEnvelope, StatusEnvelope])
def test_a_large_answer_in_unicode_is_valid_in_both_channels(unwritable, envelope):
    rows = [{"id": n, "text": 'ü😀\u2028\x00"\\'} for n in range(50)]
    result = unwritable(rows, ENVELOPE_CLASS=envelope)
    assert json.loads(result.raw["content"][0]["text"]) == result.raw["structuredContent"]
