"""Results of ``tools/call``: refused arguments, crashes, and what cannot be written."""

from __future__ import annotations

import json
import logging

import pytest
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


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("word/<int:pk>/", Word.as_view()))
    return Agent(Client())


def sent(agent: Agent, name: str, arguments) -> Result:
    message, headers = agent.frame("tools/call", {"name": name, "arguments": arguments})
    return Result(agent.read("tools/call", agent.post(message, headers))["result"])


# --- Arguments that cannot be bound -------------------------------------------------------


def test_arguments_that_are_no_object_are_a_result_the_model_can_read(subtests, agent):
    for arguments in [[], [1], "", '{"pk": 1}', 5, True, 0.5]:
        with subtests.test(arguments=arguments):
            result = sent(agent, "word", arguments)
            assert result.is_error
            assert result.code == "INVALID_FORMAT"
            assert result.problems[0]["accepted"] == "a JSON object"
            assert result.problems[0]["received"] == arguments


def test_a_missing_path_argument_is_named(subtests, agent):
    for params in [{}, {"arguments": None}, {"arguments": {}}, {"arguments": {"pk": None}}]:
        with subtests.test(params=params):
            message, headers = agent.frame("tools/call", {"name": "word", **params})
            result = Result(agent.read("tools/call", agent.post(message, headers))["result"])
            assert result.code == "MISSING_REQUIRED"
            assert [(p["pointer"], p["code"]) for p in result.problems] == [("/pk", "required")]


def test_an_unknown_argument_is_refused_with_the_nearest_name_before_the_view(agent):
    before = Word.ran
    result = agent.call("word", pkk=5)
    problem = next(p for p in result.problems if p["code"] == "unknown")
    assert (problem["pointer"], problem["received"]) == ("/pkk", 5)
    assert "Did you mean 'pk'?" in problem["remediation"]
    assert agent.call("word", pk=1, nonsense=1).is_error
    assert Word.ran == before


def test_refused_arguments_are_is_error_in_every_revision_and_envelope(subtests, expose):
    for revision in REVISIONS:
        for envelope in ENVELOPES:
            with subtests.test(revision=revision, envelope=envelope):
                expose(path("word/<int:pk>/", Word.as_view()), ENVELOPE_CLASS=envelope)
                assert Agent(Client(), revision=revision).call("word", nonsense=1).is_error


def test_a_value_that_the_route_refuses_is_not_found(subtests, agent):
    for value in ["x", -1, 1.5, True, [1], {"a": 1}, "1/../2", "", "\uff11"]:
        with subtests.test(value=value):
            before = Word.ran
            result = agent.call("word", pk=value)
            assert (result.code, Word.ran) == ("NOT_FOUND", before)


def test_a_number_may_come_as_a_string(subtests, agent):
    for value in [7, "7"]:
        with subtests.test(value=value):
            assert agent.call("word", pk=value).data == {"pk": 7}


# --- Crashes ------------------------------------------------------------------------------


def test_a_crash_leaks_nothing_in_any_envelope(subtests, expose):
    for view in [Crashes, Guarded]:
        for envelope in ENVELOPES:
            with subtests.test(view=view, envelope=envelope):
                expose(path("crashes/", view.as_view()), ENVELOPE_CLASS=envelope)
                result = Agent(Client(raise_request_exception=False)).call("crashes")
                assert result.is_error
                assert "hunter2" not in str(result.raw)
                assert "RuntimeError" not in str(result.raw)


# --- What cannot be written ---------------------------------------------------------------


@pytest.fixture
def unwritable(expose):
    def call(value: object, **mcp_settings) -> Result:
        expose(path("answers/", Answers.as_view(answer=value)), **mcp_settings)
        return Agent(Client(raise_request_exception=False)).call("answers")

    return call


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
