"""Documents and options that RESOURCES would have to switch on."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.resources import Document
from drf_mcp.tools import mcp_tool, registry


@mcp_tool(resource=True)
class Chosen(APIView):
    def get(self, request):
        return Response({})


@pytest.fixture(autouse=True)
def nothing_added(monkeypatch):
    monkeypatch.setattr(registry, "_added", [])


def test_documents_that_nobody_is_served_are_told(expose, found):
    registry.add(Document("guide", "text"))
    expose()
    [warning] = found("drf_mcp.W029")
    assert "1 documents and skills" in warning.msg


def test_an_option_that_does_nothing_is_told(expose, found):
    expose(path("chosen/", Chosen.as_view()))
    [warning] = found("drf_mcp.W029")
    assert "resource= of chosen" in warning.msg


def test_nothing_is_told_where_resources_are_on_or_none_are_chosen(expose, found):
    expose()
    assert found("drf_mcp.W029") == []
    expose(path("chosen/", Chosen.as_view()), RESOURCES=True)
    assert found("drf_mcp.W029") == []
