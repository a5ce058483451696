"""Which envelope a result has."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_tool, mcp_viewset
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, StatusEnvelope
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


def test_one_setting_switches_it(expose, settings):
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


def test_a_viewset_has_its_own_and_a_tool_has_the_last_word(expose):
    """The list states the schema of each tool's envelope."""
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
