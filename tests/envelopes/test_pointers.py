"""The text of a result whose client shows a model the structure as well."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.agents import STATELESS, Agent

COPILOT = "github-copilot-developer"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"


class Thing(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        return Response({"id": 1})


@pytest.fixture
def call(expose):
    """Return the texts and the structure of a result, for a client of a name."""

    def call(name: str, revision: str = STATELESS, envelope: str = "ResponseV2", **sent: Any):
        settings = {"STRUCTURE_CLIENTS": [COPILOT]}
        expose(
            path("thing/", Thing.as_view()),
            ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}Envelope",
            **settings,
        )
        agent = Agent(Client(), revision=revision)
        meta = {CLIENT_INFO: {"name": name, "version": "1.0"}}
        result = agent.result("tools/call", name="thing", arguments=sent, _meta=meta)
        return [block["text"] for block in result["content"]], result.get("structuredContent")

    return call


@pytest.mark.parametrize("envelope", ["ResponseV2", "Status"])
def test_the_text_for_a_named_client_points_at_the_structure(call, envelope):
    texts, structure = call(COPILOT, envelope=envelope)
    assert texts == ["The result is in structuredContent."]
    assert structure["data"] == {"id": 1}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("another", {}),
        # Before, no message names its client, whatever is in its meta.
        (COPILOT, {"revision": "2025-11-25"}),
        # The contract has the same value in both.
        (COPILOT, {"envelope": "Ok"}),
        # Hosts show the text of a failure.
        (COPILOT, {"bogus": 1}),
    ],
)
def test_other_texts_are_the_structure(call, name, options):
    texts, structure = call(name, **options)
    assert [json.loads(text) for text in texts] == [structure]


def test_a_contract_without_structure_keeps_its_text(call):
    texts, structure = call(COPILOT, envelope="Plain")
    assert (json.loads(texts[0]), structure) == ({"id": 1}, None)
