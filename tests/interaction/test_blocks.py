"""Content blocks in addition to the envelope."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import include, path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool, registry
from drf_mcp.interaction import Block
from tests.agents import REVISIONS, Agent

MOMENT = datetime(2026, 7, 28, tzinfo=UTC)


@mcp_tool()
class ChartView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        call_context(request).attach(
            Block.image(b"png", "image/png", audience=["user"], priority=0.5),
            Block.audio(b"wav", "audio/wav"),
            Block.text("Sales rose.", last_modified=MOMENT),
        )
        return Response({"rose": True})


@mcp_tool()
class FilesView(APIView):
    permission_classes: list[type] = []

    def post(self, request):
        blocks = [
            Block.resource("shop://terms", "No returns.", "text/plain"),
            Block.resource("shop://logo", b"\x00"),
            Block.link("https://shop.example/terms.pdf", "terms", mime_type="application/pdf"),
        ]
        call_context(request).attach(*blocks)
        return Response({"files": 3}, status=201)


@pytest.fixture(autouse=True)
def served(settings):
    patterns = [path("chart/", ChartView.as_view()), path("files/", FilesView.as_view())]
    patterns.append(path("", include("drf_mcp.urls")))
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    settings.DRF_MCP = {
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "AUTHENTICATION_CLASSES": [],
        "ARCHIVE_CLASS": None,
    }
    registry.reload()


def test_the_blocks_follow_the_envelope():
    result = Agent(Client()).call("chart")
    assert result.data == {"rose": True}
    assert result.raw["content"][1:] == [
        {
            "type": "image",
            "data": "cG5n",
            "mimeType": "image/png",
            "annotations": {"audience": ["user"], "priority": 0.5},
        },
        {"type": "audio", "data": "d2F2", "mimeType": "audio/wav"},
        {
            "type": "text",
            "text": "Sales rose.",
            "annotations": {"lastModified": "2026-07-28T00:00:00+00:00"},
        },
    ]


def test_a_response_can_carry_blocks():
    result = Agent(Client()).call("files")
    assert result.raw["content"][1:] == [
        {
            "type": "resource",
            "resource": {"uri": "shop://terms", "mimeType": "text/plain", "text": "No returns."},
        },
        {"type": "resource", "resource": {"uri": "shop://logo", "blob": "AA=="}},
        {
            "type": "resource_link",
            "uri": "https://shop.example/terms.pdf",
            "name": "terms",
            "mimeType": "application/pdf",
        },
    ]


def test_each_revision_has_all_blocks(subtests):
    for revision in REVISIONS:
        for name in ["chart", "files"]:
            with subtests.test(revision=revision, name=name):
                kinds = [b["type"] for b in Agent(Client(), revision).call(name).raw["content"]]
                assert len(kinds) == 4


def test_a_block_that_is_too_long_is_left_out_with_a_warning(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_CONTENT_BYTES": 5}
    result = Agent(Client()).call("chart")
    assert [block["type"] for block in result.raw["content"]] == ["text", "image", "audio"]
    assert result.envelope["meta"]["warning_details"][0]["code"] == "CONTENT_TRUNCATED"


@pytest.mark.parametrize("annotations", [{"audience": ["model"]}, {"priority": 2}])
def test_wrong_annotations_are_refused(annotations):
    with pytest.raises(ValueError, match=r"The (audience|priority) is"):
        Block.text("x", **annotations)
