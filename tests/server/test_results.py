"""Results of ``tools/call``: refused arguments, exceptions, and data that is no JSON."""

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


class Responding(APIView):
    """Return the data of the test."""

    permission_classes = []
    data: object = None

    def get(self, request) -> Response:
        return Response(self.data)


class Crashing(APIView):
    """Raise an exception."""

    permission_classes = []

    def get(self, request) -> Response:
        raise RuntimeError(SECRET)


class CrashingPermission(BasePermission):
    """Raise an exception."""

    def has_permission(self, request, view) -> bool:
        raise RuntimeError(SECRET)


class Guarded(Responding):
    permission_classes = [CrashingPermission]


@pytest.fixture
def agent(expose) -> Agent:
    expose(path("word/<int:pk>/", Word.as_view()))
    return Agent(Client())


def call_word(agent: Agent, **params) -> Result:
    """Call the tool; ``params`` may have arguments that the official types refuse."""
    message, headers = agent.frame("tools/call", {"name": "word", **params})
    return Result(agent.read("tools/call", agent.post(message, headers))["result"])


# --- Arguments of the wrong shape or name -------------------------------------------------


def test_arguments_that_are_no_object_are_an_error_that_the_model_can_read(subtests, agent):
    for arguments in [[], [1], "", '{"pk": 1}', 5, True, 0.5]:
        with subtests.test(arguments=arguments):
            result = call_word(agent, arguments=arguments)
            assert result.is_error
            assert result.code == "INVALID_FORMAT"
            assert result.problems[0]["accepted"] == "a JSON object"
            assert result.problems[0]["received"] == arguments


def test_refused_arguments_are_an_error_in_every_revision_and_envelope(subtests, expose):
    for revision in REVISIONS:
        for envelope in ENVELOPES:
            with subtests.test(revision=revision, envelope=envelope):
                expose(path("word/<int:pk>/", Word.as_view()), ENVELOPE_CLASS=envelope)
                assert Agent(Client(), revision=revision).call("word", nonsense=1).is_error


def test_a_value_that_the_route_does_not_match_is_not_found(subtests, agent):
    for value in ["x", -1, 1.5, True, [1], {"a": 1}, "1/../2", "", "\uff11"]:
        with subtests.test(value=value):
            before = Word.ran
            result = agent.call("word", pk=value)
            assert (result.code, Word.ran) == ("NOT_FOUND", before)


# --- Exceptions ---------------------------------------------------------------------------


def test_an_exception_is_hidden_in_every_envelope(subtests, expose):
    for view in [Crashing, Guarded]:
        for envelope in ENVELOPES:
            with subtests.test(view=view, envelope=envelope):
                expose(path("crashing/", view.as_view()), ENVELOPE_CLASS=envelope)
                result = Agent(Client(raise_request_exception=False)).call("crashing")
                assert result.is_error
                assert "hunter2" not in str(result.raw)
                assert "RuntimeError" not in str(result.raw)


# --- Data that is no JSON -----------------------------------------------------------------


@pytest.fixture
def call_responding(expose):
    def call(value: object, **mcp_settings) -> Result:
        expose(path("responding/", Responding.as_view(data=value)), **mcp_settings)
        return Agent(Client(raise_request_exception=False)).call("responding")

    return call


def test_a_value_that_is_no_json_is_logged_once_and_reported_once(
    call_responding, reported, caplog
):
    with caplog.at_level(logging.WARNING):
        result = call_responding(float("nan"))
    (record,) = caplog.records
    assert result.code == "INTERNAL_ERROR"
    assert result.envelope["meta"]["request_id"] in record.getMessage()
    assert record.exc_info[1] is not None
    assert len(reported) == 1


@pytest.mark.parametrize("envelope", [ResponseV2Envelope, OkEnvelope, StatusEnvelope])
def test_large_data_in_unicode_is_the_same_in_text_and_structured_content(
    call_responding, envelope
):
    rows = [{"id": n, "text": 'ü😀\u2028\x00"\\'} for n in range(50)]
    result = call_responding(rows, ENVELOPE_CLASS=envelope)
    assert json.loads(result.raw["content"][0]["text"]) == result.raw["structuredContent"]
