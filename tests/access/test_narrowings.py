"""Narrowings: what a credential or the server takes away from a caller."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import include, path
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.access.narrowing import SERVER_READS, find_own_narrowings
from drf_mcp.exposure import mcp_tool
from tests.agents import Agent


def request_of(narrowing):
    return SimpleNamespace(auth=SimpleNamespace(narrowing=narrowing))


@pytest.mark.parametrize("answer", [True, False])
def test_read_only_may_depend_on_the_caller(settings, answer):
    settings.DRF_MCP = {"READ_ONLY": lambda request: answer}
    assert list(find_own_narrowings(request_of(None))) == ([SERVER_READS] if answer else [])


class Plain(APIView):
    permission_classes = [AllowAny]

    def get(self, request):
        return Response({})


def test_a_toolset_of_a_tag_matches_the_tag_literally(expose, db):
    """A tag may contain characters that are a pattern elsewhere."""
    starred = mcp_tool(tags=["s*"])(type("Starred", (Plain,), {}))
    sold = mcp_tool(tags=["sales"])(type("Sold", (Plain,), {}))
    expose(
        path("starred/", starred.as_view()),
        path("sold/", sold.as_view()),
        path("mcp/", include("drf_mcp.urls.toolsets")),
    )
    agent = Agent(Client(), "2025-11-25", "/mcp/x/s*")
    assert [tool["name"] for tool in agent.result("tools/list")["tools"]] == ["starred"]
