"""Declared output schemas are relaxed, so that shortened answers are valid."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.calls.results import relax_schema

ROW = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "required": {"type": "string", "minLength": 1}},
    "required": ["id", "required"],
}
DECLARED = {
    "type": "object",
    "properties": {"rows": {"type": "array", "minItems": 1, "items": ROW}},
    "required": ["rows"],
}


@mcp_tool(output_schema=DECLARED)
class Wide(APIView):
    """Return three rows, each of them too long for a result."""

    def get(self, request) -> Response:
        row = {"required": "x", **{f"k{n}": "v" * 30 for n in range(2000)}}
        return Response({"rows": [{"id": n, **row} for n in range(3)]})


@pytest.mark.slow
def test_a_shortened_answer_is_valid_by_a_declared_schema(expose, agent_of):
    """The agent validates every result by the schema of its tool."""
    for envelope in ("ResponseV2", "Ok", "Status"):
        chosen = f"drf_mcp.envelopes.{envelope}Envelope"
        expose(path("wide/", Wide.as_view()), ENVELOPE_CLASS=chosen)
        result = agent_of("alice").call("wide")
        assert all("required" not in row for row in result.data["rows"])


CASES = {
    "members named like keywords stay": (
        DECLARED,
        {
            "type": "object",
            "properties": {
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"id": {"type": "integer"}, "required": {"type": "string"}},
                    },
                }
            },
        },
    ),
    "values stay": (
        {"enum": [{"required": 1}], "default": {"format": 1}},
        {"enum": [{"required": 1}], "default": {"format": 1}},
    ),
    "one of several is any of them": (
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"anyOf": [{}, {}]}]},
    ),
    "conditions go": ({"type": "object", "not": {"required": ["a"]}}, {"type": "object"}),
    "rows left alike and texts made digests": (
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "maxLength": 1600}},
        {"type": "array", "items": {"type": "string"}},
    ),
    "what a condition that is gone had evaluated": (
        {
            "if": {"required": ["a"]},
            "then": {"properties": {"b": {}}},
            "unevaluatedProperties": False,
            "unevaluatedItems": False,
        },
        {},
    ),
    "true stays": ({"items": True}, {"items": True}),
}


def test_the_relaxed_schema():
    found = {name: relax_schema(declared) for name, (declared, _) in CASES.items()}
    assert found == {name: kept for name, (_, kept) in CASES.items()}
