"""How the envelope of a result is selected, and the check of envelope classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.checks import run_checks
from django.test import Client
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_tool, mcp_viewset
from drf_mcp.envelopes import Envelope, OkEnvelope, PlainEnvelope, StatusEnvelope
from drf_mcp.views import MCPView
from tests.agents import Agent


class Word(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        return Response({"word": "hello"})


def kind(envelope: dict[str, Any]) -> str:
    return next(n for n in ("status", "ok", "success", "word") if n in envelope)


def answer(name: str = "word", path: str = "/mcp") -> str:
    return kind(Agent(Client(), path=path).call(name).envelope)


def test_one_setting_selects_the_envelope(expose, settings):
    expose(path("word/", Word.as_view()))
    found = [answer()]
    for setting in (
        "drf_mcp.envelopes.OkEnvelope",
        StatusEnvelope,
        "drf_mcp.envelopes.PlainEnvelope",
        "drf_mcp.envelopes.ResponseV2Envelope",
    ):
        settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": setting}
        found.append(answer())
    assert found == ["success", "ok", "status", "word", "success"]


@mcp_viewset(envelope_class=OkEnvelope)
class Words(viewsets.ViewSet):
    permission_classes = []

    def list(self, request) -> Response:
        return Response([])

    @mcp_tool(envelope_class=StatusEnvelope)
    @action(detail=False)
    def longest(self, request) -> Response:
        return Response({})


def test_a_viewset_overrides_the_setting_and_a_tool_the_viewset(expose):
    """The list has the schema of each tool's envelope."""
    router = SimpleRouter()
    router.register("words", Words, "word")
    expose(
        path("plain", MCPView.as_view(envelope_class=PlainEnvelope)),
        path("", include(router.urls)),
        path("other/", Word.as_view()),
        OUTPUT_SCHEMA="envelope",
    )
    assert answer("other") == "success"
    assert answer("words_list", "/plain") == "ok"
    assert answer("words_longest", "/plain") == "status"
    tools = Agent(Client()).tools()
    assert "ok" in tools["words_list"]["outputSchema"]["properties"]
    assert "status" in tools["words_longest"]["outputSchema"]["properties"]


class Bare(Envelope):
    """Has no render()."""


class Working(Envelope):
    def render(self, outcome) -> Any:
        return outcome.data


class ListSchema(Working):
    def schema(self, data_schema) -> Any:
        return {"type": "array", "items": {}}


class CrashingSchema(Working):
    def schema(self, data_schema) -> Any:
        return {"type": "object", "properties": data_schema["properties"]}


class Demanding(Working):
    def __init__(self, shape: str) -> None:
        self.shape = shape


def errors() -> list[str]:
    found = [e for e in run_checks(tags=["drf_mcp"]) if e.id == "drf_mcp.E003"]
    assert all("docs/envelopes.md" in e.hint for e in found)
    return [e.msg for e in found]


@pytest.fixture
def check(settings) -> Callable[[Any], list[str]]:
    """Return the messages about an envelope that the setting names."""
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("mcp", MCPView.as_view())]})

    def check(envelope: Any) -> list[str]:
        settings.DRF_MCP = {"ENVELOPE_CLASS": envelope}
        return errors()

    return check


LACKS = {
    Bare: "Bare has no render().",
    ListSchema: 'ListSchema gives a schema whose root is not {"type": "object"}.',
    CrashingSchema: "CrashingSchema cannot state its schema({}): KeyError: 'properties'",
    Demanding: "Demanding cannot state its schema({}): TypeError",
}


@pytest.mark.slow
def test_the_check_names_the_missing_methods_of_an_envelope(check):
    """An envelope without a schema is allowed."""
    for envelope, lack in LACKS.items():
        (error,) = check(envelope)
        assert error.startswith(lack)
    for envelope in (Working, OkEnvelope, PlainEnvelope, StatusEnvelope):
        assert check(envelope) == []
    # Another check reports a setting that cannot be imported.
    assert check("no.such.Envelope") == []


def test_the_check_covers_endpoints_and_tools(expose):
    @mcp_tool(envelope_class=Bare)
    class Tooled(Word):
        pass

    inner = [path("inner", MCPView.as_view(envelope_class=ListSchema))]
    expose(path("mcp/", include(inner)), path("word/", Tooled.as_view()))
    assert [error.split()[0] for error in errors()] == ["ListSchema", "Bare"]
