"""What the failures of several objects say at length is kept and named, too."""

from __future__ import annotations

import re

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from drf_mcp import mcp_viewset
from drf_mcp.truncation import count_tokens
from tests.stored.answers import find_marks, mark, read_whole

pytestmark = pytest.mark.django_db
ARCHIVED = re.compile(r"archive_id='([\w-]+)'")


@mcp_viewset(many=True)
class Stocks(GenericViewSet):
    permission_classes = ()

    def retrieve(self, request, pk):
        number = int(pk)
        if number % 2:
            lines = [mark(100 * number + line) for line in range(60)]
            return Response({"detail": "Sold out.", "left": 0, "lines": lines}, status=409)
        return Response({"id": number, "name": mark(100 * number)})


@pytest.mark.parametrize("budget", [1000, 4000])
@pytest.mark.parametrize(
    "envelope", ["ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope"]
)
def test_what_the_failures_of_some_objects_say_is_kept(expose, alice, envelope, budget):
    expose(
        path("stocks/<int:pk>/", Stocks.as_view({"get": "retrieve"})),
        ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}",
        ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive",
        MAX_RESULT_TOKENS=budget,
    )
    raw = alice.call("stocks_retrieve", ids=list(range(6))).raw
    assert not raw.get("isError"), raw
    text = "\n".join(block["text"] for block in raw["content"])
    assert count_tokens(text) <= budget
    assert "3 of 6 failed" in text
    kept = "".join(read_whole(alice, each, bool) for each in set(ARCHIVED.findall(text)))
    assert len(find_marks(text) | find_marks(kept)) == 3 * 61, text
