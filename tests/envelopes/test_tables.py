"""Rows as columns and rows, by the option ``tabular``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.checks import run_checks
from django.http import HttpRequest
from django.test import Client
from django.urls import path
from jsonschema import Draft202012Validator
from rest_framework import generics, serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response

from drf_mcp.json_text import content_hash
from drf_mcp.renderers import EnvelopeJSONRenderer
from drf_mcp.views import MCPView
from tests.agents import Agent

ROWS = [{"id": number, "note": f"note {number}"} for number in range(1, 301)]
ENVELOPES = {"ResponseV2Envelope": "meta", "OkEnvelope": "meta", "StatusEnvelope": "metadata"}


class RowSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    note = serializers.CharField()


class Pages(PageNumberPagination):
    page_size = 3
    page_size_query_param = "page_size"
    max_page_size = 300


class Rows(generics.ListAPIView):
    permission_classes = []
    queryset = ROWS
    filter_backends = []
    serializer_class = RowSerializer
    pagination_class = Pages

    def get_queryset(self) -> Any:
        return ROWS


class Whole(Rows):
    pagination_class = None


class Ragged(Rows):
    def get(self, request: HttpRequest) -> Response:
        return Response([{"id": 1}, {"id": 2, "note": None}])


class Enveloped(Rows):
    renderer_classes = [EnvelopeJSONRenderer]


@pytest.fixture
def serve(expose, settings):
    """Serve the views with tables, and return an agent there."""

    def serve(view: Any = Rows, **mcp_settings: Any) -> Agent:
        own = MCPView.as_view(tool_options={"tabular": True})
        expose(path("rows/", view.as_view()), path("own/mcp", own), **mcp_settings)
        return Agent(Client(), path="/own/mcp")

    return serve


def find_rows(data: Any) -> Any:
    return data["results"] if isinstance(data, dict) and "results" in data else data


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("view", [Rows, Whole])
def test_rows_are_columns_and_rows_in_text_and_structure(serve, envelope, view):
    agent = serve(view, ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}", OUTPUT_SCHEMA="full")
    schema = agent.tools()["rows_list"]["outputSchema"]
    result = agent.call("rows_list").raw
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    table = find_rows(result["structuredContent"]["data"])
    assert table["columns"] == ["id", "note"]
    meta = result["structuredContent"][ENVELOPES[envelope]]
    if envelope == "OkEnvelope":
        assert meta["content_hash"] == content_hash(result["structuredContent"]["data"])
    assert table["rows"][:2] == [[1, "note 1"], [2, "note 2"]]
    Draft202012Validator(schema).validate(result["structuredContent"])
    failed = agent.call("rows_list", bogus=1).raw["structuredContent"]
    Draft202012Validator(schema).validate(failed)


def test_a_page_says_the_next_and_other_endpoints_and_http_have_objects(serve):
    agent = serve()
    page = agent.call("rows_list").envelope
    assert page["meta"]["pagination"]["next"] == {"page": 2}
    assert agent.call("rows_list", page=2).data["results"]["rows"][0] == [4, "note 4"]
    assert Agent(Client()).call("rows_list").data["results"] == ROWS[:3]
    assert Client().get("/rows/").json()["results"] == ROWS[:3]


def test_rows_with_different_fields_stay_objects(serve):
    assert serve(Ragged).call("rows_list").data["results"] == [{"id": 1}, {"id": 2, "note": None}]


@pytest.mark.django_db
def test_what_has_no_room_is_named_and_fetched_by_its_id(serve):
    archive = "drf_mcp.stored.DatabaseArchive"
    agent = serve(ARCHIVE_CLASS=archive, MAX_RESULT_TOKENS=1000)
    result = agent.call("rows_list", page_size=300)
    kept = result.data["results"]["rows"]
    (archive_id,) = result.envelope["meta"]["content_archive_hashes"]
    assert kept == [list(row.values()) for row in ROWS[: len(kept)]]
    following = ROWS[len(kept)]
    part = agent.call("content_retrieve", archive_id=archive_id, ids=[str(following["id"])])
    assert [item["value"] for item in part.data["items"]] == [following]


@pytest.mark.parametrize(
    ("view", "envelope", "reason"),
    [
        (Rows, "PlainEnvelope", "the contract of PlainEnvelope has none"),
        (Enveloped, "OkEnvelope", "its renderer gives plain HTTP the same body"),
    ],
)
def test_a_contract_without_tables_is_reported(serve, view, envelope, reason):
    agent = serve(view, ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}")
    (error,) = [e for e in run_checks(tags=["drf_mcp"]) if e.id == "drf_mcp.E022"]
    assert error.msg == f"rows_list cannot have tabular=True: {reason}."
    if envelope == "PlainEnvelope":
        assert json.loads(agent.call("rows_list").raw["content"][0]["text"])["results"] == ROWS[:3]
