"""The long context of a failure is kept and named like any answer."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import path
from rest_framework.generics import CreateAPIView
from rest_framework.response import Response
from rest_framework.serializers import IntegerField, ListField, Serializer
from rest_framework.views import APIView

from drf_mcp.envelopes import error_response
from drf_mcp.exceptions import SoftFailure
from tests.stored.answers import read_whole

pytestmark = pytest.mark.django_db
LINES = [{"line": number, "problem": f"mark<{number}> " + "word " * 40} for number in range(300)]
ARCHIVED = re.compile(r"archive_id='([\w-]+)'")
MARK = re.compile(r"mark<(\d+)>")
ENVELOPES = ("ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope")


def soften(body) -> None:
    raise SoftFailure(body)


# With the class of the status, where the body does not say.
BODIES = {
    "own envelope": error_response("Failed", error_code="FAILED", data={"lines": LINES}),
    "detail": {"detail": " ".join(line["problem"] for line in LINES)},
    "members": {"detail": "Failed.", "lines": LINES},
    "list": ["Failed.", LINES],
    "problem": {"errors": [{"detail": "No.", "attr": "name", "lines": LINES}]},
    "texts": {"error": "Failed.", "notes": [line["problem"] for line in LINES]},
}
# How a view refuses.
REFUSALS = {
    "400": lambda body: Response(body, status=400),
    "409": lambda body: Response(body, status=409),
    "soft": soften,
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("way", REFUSALS)
def test_what_a_long_failure_leaves_out_can_be_fetched(expose, alice, way, kind, envelope):
    get = REFUSALS[way]
    view = type("Order", (APIView,), {"get": lambda self, request: get(BODIES[kind])})
    archive = {"ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    names = {"ENVELOPE_CLASS": f"drf_mcp.envelopes.{envelope}", "FIELDS_ARGUMENT": False}
    expose(path("order/", view.as_view()), **archive, **names)
    raw = alice.call("order").raw
    assert bool(raw.get("isError")) == (way != "soft")
    text = "\n".join(block["text"] for block in raw["content"])
    assert '"dropped_count":0' not in text.replace(" ", "")
    ids = set(ARCHIVED.findall(text))
    given = {
        *MARK.findall(text),
        *MARK.findall("".join(read_whole(alice, each, bool) for each in ids)),
    }
    assert len(given) == len(LINES), text


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_problems_that_are_left_out_are_counted(expose, alice, envelope):
    class Rows(Serializer):
        numbers = ListField(child=IntegerField())

    class Import(CreateAPIView):
        serializer_class = Rows

    expose(path("import/", Import.as_view()), ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}")
    text = "\n".join(
        block["text"] for block in alice.call("import_create", numbers=["x"] * 400).raw["content"]
    )
    shown = int(re.search(r"(\d+) of 400 problems shown", text)[1])
    context = json.loads(re.search(r'"context": ?({"dropped_count[^}]*})', text)[1])
    assert (context["dropped_count"], context["total_count"]) == (400 - shown, 400)
    assert 0 < shown <= text.count("A valid integer is required.") < 400
