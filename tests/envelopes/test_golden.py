"""Every exception and every shape of success in every envelope, as golden files.

A file is blessed by copying: a test that fails has written what it got and says how.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from rest_framework import exceptions, serializers
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.tools import registry
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.envelopes.cases import ANSWERED, RAISED

GOLDEN = Path(__file__).with_name("golden")
ENVELOPES = {
    "response_v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}
# What differs from call to call, by name.
VOLATILE = ("request_id", "timestamp", "duration_ms", "execution_time")


class Line(serializers.Serializer):
    quantity = serializers.IntegerField(max_value=5)


class Body(serializers.Serializer):
    name = serializers.CharField()
    lines = Line(many=True)


class Case(APIView):
    """Comes to one case."""

    permission_classes = []
    serializer_class = Body
    case = ""

    def post(self, request) -> Response:
        if self.case in RAISED:
            raise RAISED[self.case]()
        return Response(ANSWERED[self.case](request))


class Two(PageNumberPagination):
    page_size = 2


class Row(serializers.Serializer):
    id = serializers.IntegerField()


class Page(ListAPIView):
    """Pages of two rows."""

    permission_classes = []
    serializer_class = Row
    pagination_class = Two

    def get_queryset(self) -> list[dict[str, int]]:
        return [{"id": number} for number in range(3)]


def normalised(value: Any) -> Any:
    """Return a result without what differs from call to call."""
    if isinstance(value, dict):
        return {
            name: f"<{name}>" if name in VOLATILE else normalised(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [normalised(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"req_[0-9a-f]{16}", "<request_id>", value)
    return value


def readable(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a tool result as a person reads it: the text parsed where it is JSON."""
    text = raw["content"][0]["text"]
    shown = raw.get("structuredContent", text)
    return {"isError": raw.get("isError", "absent"), "result": normalised(shown)}


@pytest.fixture
def results(expose, db, settings):
    """Return the results of calling a view's tool in each envelope."""

    def call(view: Any, **arguments: Any) -> dict[str, Any]:
        endpoints = [
            path(f"mcp/{name}", MCPView.as_view(envelope_class=envelope_class))
            for name, envelope_class in ENVELOPES.items()
        ]
        expose(*endpoints, path("case/", view), SERVER_VERSION="1.0.0")
        found = {}
        for name in ENVELOPES:
            agent = Agent(Client(raise_request_exception=False), path=f"/mcp/{name}")
            found[name] = readable(agent.call_with(next(iter(registry.tools())), arguments).raw)
        return found

    return call


def assert_golden(name: str, actual: dict[str, Any], tmp_path: Path) -> None:
    """Hold results against the golden file of that name."""
    golden, written = GOLDEN / f"{name}.json", tmp_path / f"{name}.json"
    text = json.dumps(actual, indent=2, ensure_ascii=False) + "\n"
    if not golden.exists() or golden.read_text() != text:
        written.write_text(text)
        pytest.fail(f"Not as the golden file. Compare, then: cp {written} {golden}")


@pytest.mark.parametrize("case", [*RAISED, *ANSWERED])
def test_a_case_is_rendered_as_its_golden_file(case, results, tmp_path):
    arguments = {"name": "a", "lines": [{"quantity": 1}, {"quantity": 9}]}
    assert_golden(case, results(Case.as_view(case=case), **arguments), tmp_path)


@pytest.mark.parametrize(
    ("case", "arguments"), [("page", {}), ("last_page", {"page": 2}), ("no_page", {"page": 9})]
)
def test_a_page_is_rendered_as_its_golden_file(case, arguments, results, tmp_path):
    assert_golden(case, results(Page.as_view(), **arguments), tmp_path)


def test_refused_arguments_are_rendered_as_their_golden_file(results, tmp_path):
    assert_golden("unknown_argument", results(Case.as_view(case="object"), nam="a"), tmp_path)


def test_every_exception_of_rest_framework_has_a_golden_file():
    raised = {type(make()) for make in RAISED.values()}
    stock = {
        member
        for member in vars(exceptions).values()
        if isinstance(member, type) and issubclass(member, exceptions.APIException)
    }
    assert stock <= raised


def test_every_golden_file_belongs_to_a_case():
    pages = {"page", "last_page", "no_page", "unknown_argument"}
    assert {golden.stem for golden in GOLDEN.glob("*.json")} == {*RAISED, *ANSWERED, *pages}


def test_no_golden_file_tells_what_nobody_may_know():
    assert "never told" not in "".join(golden.read_text() for golden in GOLDEN.glob("*.json"))
