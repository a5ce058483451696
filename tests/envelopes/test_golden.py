"""Every exception and every shape of success in every envelope, as golden files.

A test that fails has written the new file, and prints the command that copies it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import path
from rest_framework import exceptions, serializers
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.envelopes.cases import ANSWERED, RAISED
from tests.envelopes.conftest import ENVELOPES

GOLDEN = Path(__file__).with_name("golden")
# Values that differ from call to call, by name.
VOLATILE = ("request_id", "timestamp", "duration_ms", "execution_time")


class Line(serializers.Serializer):
    quantity = serializers.IntegerField(max_value=5)


class Body(serializers.Serializer):
    name = serializers.CharField()
    lines = Line(many=True)


class Case(APIView):
    """Answers with the case that the test chooses."""

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
    """Return a result without values that differ from call to call."""
    if isinstance(value, dict):
        return {
            name: f"<{name}>" if name in VOLATILE else normalised(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [normalised(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"req_[0-9]{12}", "<request_id>", value)
    return value


def readable(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a tool result with the text parsed where it is JSON."""
    text = raw["content"][0]["text"]
    shown = raw.get("structuredContent", text)
    return {"isError": raw.get("isError", "absent"), "result": normalised(shown)}


ROWS = {"name": "a", "lines": [{"quantity": 1}, {"quantity": 9}]}
# The view, its case and the arguments of each file.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{case: ("case", case, ROWS) for case in (*RAISED, *ANSWERED)},
    "page": ("page", "", {}),
    "last_page": ("page", "", {"page": 2}),
    "no_page": ("page", "", {"page": 9}),
    "unknown_argument": ("case", "object", {"nam": "a"}),
}


@pytest.mark.slow
def test_every_case_is_rendered_as_its_golden_file(serve, monkeypatch, tmp_path):
    """In each envelope: every exception, shape of success, page and refusal."""
    wrong = []
    for view in (Case, Page):
        served = serve(path("case/", view.as_view()), SERVER_VERSION="1.0.0")
        for name, (kind, case, arguments) in CASES.items():
            if kind == view.__name__.lower():
                monkeypatch.setattr(Case, "case", case)
                results = {used: readable(served.call(used, **arguments).raw) for used in ENVELOPES}
                text = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
                written, golden = tmp_path / f"{name}.json", GOLDEN / f"{name}.json"
                written.write_text(text)
                if not golden.exists() or golden.read_text() != text:
                    wrong.append(f"cp {written} {golden}")
    assert wrong == [], "Not as the golden files. Compare, then copy them."


def test_every_exception_of_rest_framework_has_a_golden_file():
    raised = {type(make()) for make in RAISED.values()}
    stock = {
        member
        for member in vars(exceptions).values()
        if isinstance(member, type) and issubclass(member, exceptions.APIException)
    }
    assert stock <= raised


def test_every_golden_file_belongs_to_a_case_and_contains_no_secret():
    texts = {golden.stem: golden.read_text() for golden in GOLDEN.glob("*.json")}
    assert set(texts) == set(CASES)
    assert "never shown" not in "".join(texts.values())
