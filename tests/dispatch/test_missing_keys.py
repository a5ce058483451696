"""A key that a view reads of the request and that the call did not send."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest
from rest_framework import generics, parsers, serializers
from rest_framework.response import Response
from rest_framework.views import APIView

PRICES = {"S": 1}


def total(data: Any) -> int:
    return data["rooms"] * data["nights"]


class Booking(APIView):
    permission_classes = []
    read: Any = None

    def post(self, request) -> Response:
        return Response({"read": type(self).read(self, request)})


def of_query(view: Any, request: Any) -> Any:
    return request.query_params["nights"] if request.data["rooms"] else None


def of_variable(view: Any, request: Any) -> Any:
    data = view.request.data
    return data["nights"]


def of_copy(view: Any, request: Any) -> Any:
    data = {**request.data}
    return data.pop("nights")


def of_text(view: Any, request: Any) -> Any:
    return "%(rooms)s rooms, %(nights)s nights" % request.data  # noqa: UP031


def of_none(view: Any, request: Any) -> Any:
    return int(request.query_params.get("nights"))


def of_variable_of_none(view: Any, request: Any) -> Any:
    rooms, nights = request.data["rooms"], request.data
    nights = request.query_params.get("rooms", rooms)
    stays = request.data.get("nights")
    return nights * int(stays)


READS = {
    "variable of none": of_variable_of_none,
    "none": of_none,
    "method of none": lambda view, request: request.data.get("nights").strip(),
    "item of none": lambda view, request: request.data.get("nights")[0],
    "body": lambda view, request: request.data["nights"],
    "query": lambda view, request: request.GET["nights"],
    "query after body": of_query,
    "variable": of_variable,
    "helper": lambda view, request: total(request.data),
    "copy": of_copy,
    "text": of_text,
    "format": lambda view, request: "{nights} nights".format(**request.data),
    "getter": lambda view, request: itemgetter("rooms", "nights")(request.data),
}


@pytest.fixture
def booking(serve):
    def mount(read: Any, **members: Any) -> Any:
        members |= {"read": staticmethod(read)}
        return serve(type("Reading", (Booking,), members).as_view())

    return mount


def send(thing: Any, **body: Any) -> Any:
    (tool,) = thing.agent.tools().values()
    names = tool["inputSchema"]["properties"]
    return thing.call(**({"body": body} if "body" in names else body))


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_key_that_was_not_sent_is_a_missing_argument(booking, reported, read):
    thing = booking(read)
    assert thing.http.post("/thing/", {"rooms": 2}, format="json").status_code == 500
    result = send(thing, rooms=2)
    assert result.is_error
    data = result.envelope["data"]
    assert data["error_code"] == "MISSING_REQUIRED"
    assert data["details"]["field"].endswith("nights")
    assert data["remediation"] == "Provide it."


def test_it_is_logged_and_signalled_as_the_500_that_http_gives(booking, reported, caplog):
    thing = booking(READS["body"])
    send(thing, rooms=2)
    assert len(reported) == 1
    assert any(record.levelname == "ERROR" and record.exc_info for record in caplog.records)


def test_a_key_of_an_object_inside_the_body_has_its_place(booking):
    result = send(booking(lambda view, request: request.data["stays"][1]["nights"]), stays=[1, {}])
    assert result.envelope["data"]["details"]["field"].endswith("stays[1].nights")


def test_a_key_of_a_form_is_a_missing_argument(booking):
    thing = booking(READS["body"], parser_classes=[parsers.MultiPartParser])
    assert send(thing, rooms="2").envelope["data"]["error_code"] == "MISSING_REQUIRED"


class Stay(serializers.Serializer):
    start = serializers.DateField()
    end = serializers.DateField(required=False)

    def validate(self, attrs: Any) -> Any:
        assert attrs["start"] < attrs["end"]
        return attrs


class Stays(generics.CreateAPIView):
    permission_classes = []
    serializer_class = Stay


def test_a_value_that_a_serializer_reads_and_does_not_require_is_missing(serve):
    data = serve(Stays.as_view()).call(start="2026-01-01").envelope["data"]
    assert (data["error_code"], data["details"]["field"]) == ("MISSING_REQUIRED", "end")


@pytest.mark.parametrize("body", ["solved", ["solved"], 7])
@pytest.mark.parametrize(
    "read",
    [
        lambda view, request: request.data.get("nights"),
        lambda view, request: request.data["nights"],
        lambda view, request: total(request.data),
    ],
)
def test_a_body_that_is_no_object_is_refused(booking, read, body):
    thing = booking(read)
    assert thing.http.post("/thing/", body, format="json").status_code == 500
    (tool,) = thing.agent.tools().values()
    if "body" in tool["inputSchema"]["properties"]:
        data = thing.call(body=body).envelope["data"]
        assert data["error_code"] == "VALIDATION_ERROR"
        assert data["details"]["constraint"] == "not_a_dict"


def fail(view: Any, request: Any) -> Any:
    raise KeyError("nights")


def of_other_variable(view: Any, request: Any) -> Any:
    nights = PRICES.get("nights")
    return nights + request.data["rooms"]


OTHERS = {
    "variable of another none": of_other_variable,
    "of none that was sent": lambda view, request: request.data.get("size").nights,
    "of another none": lambda view, request: PRICES.get("nights") + request.data["rooms"],
    "of a table": lambda view, request: PRICES[request.data["size"]],
    "of a new object": lambda view, request: {}["nights"],
    "raised": fail,
    "of a header": lambda view, request: request.headers["X-Nights"],
    "of a part of the answer": lambda view, request: {"size": request.data["size"]}["nights"],
}


@pytest.mark.parametrize("read", OTHERS.values(), ids=OTHERS)
def test_any_other_key_that_is_missing_is_an_internal_error(booking, read):
    result = send(booking(read), size="XL", rooms=1)
    assert result.envelope["data"]["error_code"] == "INTERNAL_ERROR"
    assert "nights" not in str(result.envelope).lower()
