"""A key that a view reads of the request and that the call did not send."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework import generics, serializers
from rest_framework.response import Response
from rest_framework.views import APIView


class OfBody(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response(request.data["rooms"] * request.data["nights"])


class OfForm(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response([request.query_params["nights"], request.data["rooms"]])


class OfNone(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response(int(request.data["rooms"]) * int(request.query_params.get("nights")))


class OfMethod(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response([request.data["rooms"], request.data.get("nights").strip()])


@pytest.mark.parametrize("view", [OfBody, OfForm, OfNone, OfMethod])
def test_a_key_that_was_not_sent_is_a_missing_argument(serve, view):
    thing = serve(view.as_view())
    thing.http.raise_request_exception = False
    assert thing.http.post("/thing/", {"rooms": 2}, format="json").status_code == 500
    data = thing.call(rooms=2).envelope["data"]
    assert data["error_code"] == "MISSING_REQUIRED"
    assert data["details"]["field"] == "nights"


def test_it_is_logged_and_signalled_as_the_500_that_http_gives(serve, reported, caplog):
    serve(OfBody.as_view()).call(rooms=2)
    assert len(reported) == 1
    assert any(record.levelname == "ERROR" and record.exc_info for record in caplog.records)


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


PRICES = {"S": 1}


class OfTable(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        return Response(PRICES[request.data["size"]])


class Raised(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        raise KeyError("size")


@pytest.mark.parametrize("view", [OfTable, Raised])
def test_any_other_key_that_is_missing_is_an_internal_error(serve, view):
    thing = serve(view.as_view())
    names = next(iter(thing.agent.tools().values()))["inputSchema"]["properties"]
    result = thing.call(**({"size": "XL"} if "size" in names else {}))
    assert result.envelope["data"]["error_code"] == "INTERNAL_ERROR"
    assert "XL" not in str(result.envelope)


class OwnTable(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        if "size" in request.data:
            return Response(request.data["size"])
        wanted = "size"
        return Response({"S": 1}[wanted])


def test_a_key_of_a_dictionary_of_the_views_own_is_no_missing_argument(serve):
    thing = serve(OwnTable.as_view())
    assert "size" in next(iter(thing.agent.tools().values()))["inputSchema"]["properties"]
    assert thing.call().envelope["data"]["error_code"] == "INTERNAL_ERROR"


class InLoop(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        assert request.data.get("nights") != 0
        return Response([request.data[name] for name in ("rooms", "nights")])


def test_a_key_that_a_loop_reads_of_the_body_is_a_missing_argument(serve):
    data = serve(InLoop.as_view()).call(rooms=2).envelope["data"]
    assert (data["error_code"], data["details"]["field"]) == ("MISSING_REQUIRED", "nights")
