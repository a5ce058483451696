"""Advice is right for every cause that leads to it: causes in a table, each with its advice."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import path
from rest_framework import serializers as s
from rest_framework.exceptions import APIException, NotFound
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.codes import STATUS_CODES
from drf_mcp.dispatch.errors.remediation import BY_CATEGORY, STATUS_ADVICE
from example_project.shop.models import Product
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering, raising, validating
from tests.envelopes.conftest import ENVELOPES

AGAIN_AS_IT_IS = ("Try again later", "Wait", "Find out whether")
CORRECTED = ("Correct", "Send", "Ask for a part", "Use another", "Provide", "Look up", "Where an")
CHANGED = ("The same call would be refused again",)
NEVER = ("Do not repeat", "It is gone", "This operation does not exist", "Do not send")
FIRST_LOOK = ("Read the", "Mend what", "Do what the message")
EXPECTED = {
    400: CHANGED, 401: CORRECTED, 402: NEVER, 403: NEVER, 404: CORRECTED, 405: NEVER, 406: NEVER,
    407: FIRST_LOOK, 408: AGAIN_AS_IT_IS, 409: FIRST_LOOK, 410: NEVER, 411: NEVER, 412: FIRST_LOOK,
    413: CORRECTED, 414: CORRECTED, 415: CORRECTED, 416: CORRECTED, 417: NEVER, 418: FIRST_LOOK,
    421: NEVER, 422: CHANGED, 423: AGAIN_AS_IT_IS, 424: FIRST_LOOK, 425: AGAIN_AS_IT_IS,
    426: NEVER, 428: NEVER, 429: AGAIN_AS_IT_IS, 431: NEVER, 444: FIRST_LOOK, 451: NEVER,
    499: FIRST_LOOK, 500: AGAIN_AS_IT_IS, 501: NEVER, 502: AGAIN_AS_IT_IS, 503: AGAIN_AS_IT_IS,
    504: AGAIN_AS_IT_IS, 505: NEVER, 507: AGAIN_AS_IT_IS, 508: AGAIN_AS_IT_IS, 511: NEVER,
}  # fmt: skip
"""What a caller can do about each status: the same call again, another, none, or look first."""


def failing(status: int, code: str = "error") -> APIException:
    members = {"status_code": status, "default_code": code, "default_detail": "Said."}
    return type("ProjectError", (APIException,), members)()


def test_every_status_that_has_advice_or_a_code_is_expected_here():
    assert STATUS_ADVICE.keys() | STATUS_CODES.keys() | BY_CATEGORY <= EXPECTED.keys()


@pytest.mark.parametrize("code", ["error", "own_code"])
@pytest.mark.parametrize("status", EXPECTED)
def test_a_status_has_advice_that_its_cause_can_be_mended_by(serve, status, code):
    told = serve(raising(failing(status, code))).call().data["remediation"]
    assert told.startswith(EXPECTED[status]), told


@pytest.mark.parametrize(
    ("status", "recoverable"), [(402, False), (410, False), (418, True), (451, False), (504, True)]
)
def test_what_no_call_can_mend_is_not_recoverable(serve, status, recoverable):
    (error,) = serve(raising(failing(status))).read("status")["errors"]
    assert error["recoverable"] is recoverable


def test_an_argument_that_is_named_is_corrected_whatever_the_status(serve):
    class Plan(s.Serializer):
        plan = s.CharField()

        def validate_plan(self, plan: str) -> str:
            raise type("Unpaid", (APIException,), {"status_code": 402})({"plan": ["Too small."]})

    told = serve(validating(Plan)).call(plan="free").data
    assert told["remediation"].startswith("Correct 'plan'.")


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("value", [float("nan"), object()], ids=["NaN", "object"])
def test_an_answer_that_json_cannot_hold_is_not_asked_for_again(serve, value, envelope):
    told = str(serve(answering(lambda request: Response({"rate": value}))).call(envelope).raw)
    assert "Do not repeat the call: it may have taken effect" in told
    assert "Try again" not in told
    assert '"recoverable":true' not in told.replace(" ", "")


# --- Problems ------------------------------------------------------------------------------


class Line(s.Serializer):
    copy_out = s.IntegerField()
    copy_in = s.IntegerField(required=False)


class Form(s.Serializer):
    number = s.IntegerField()
    size = s.IntegerField(required=False)
    price = s.DecimalField(max_digits=4, decimal_places=2, required=False)
    tags = s.ListField(child=s.CharField(), allow_empty=False, required=False)
    lines = Line(many=True, required=False)


PROBLEMS: list[tuple[dict[str, Any], str]] = [
    ({}, "Provide 'number'."),
    ({"number": None}, "Send a value other than null for 'number'."),
    ({"number": 1, "size": None}, "Send a value other than null for 'size', or leave it out."),
    ({"number": 1, "tags": []}, "Do not send 'tags' empty."),
    ({"number": 1, "price": "12345"}, "Use fewer digits for 'price'."),
    ({"number": 1, "price": "123.4"}, "Use fewer digits before the decimal point for 'price'."),
    ({"number": 1, "price": "1.234"}, "Use fewer decimal places for 'price'."),
    ({"number": "1" * 2000}, "Use fewer digits for 'number'."),
    ({"number": 1, "lines": [{"copy_out": None}]}, "Send a value other than null for 'lines[0].c"),
    (
        {"number": 1, "lines": [{"copy_out": 1, "copy_in": None}]},
        "Send a value other than null for 'lines[0].copy_in', or leave it out.",
    ),
]


@pytest.mark.parametrize(("arguments", "advice"), PROBLEMS)
def test_a_problem_has_advice_that_mends_it(serve, arguments, advice):
    told = serve(validating(Form)).call(**arguments).data["remediation"]
    assert told.startswith(advice)
    assert ("leave it out" in told) is ("leave it out" in advice)


class Papers(s.Serializer):
    paper = s.FileField(max_length=5)


@pytest.mark.parametrize(
    ("file", "advice"),
    [
        ("data:text/plain;name=much_too_long.txt;base64,aGk=", "Shorten the file name of 'paper'."),
        ("data:text/plain;name=a.txt;base64,", "Send a file that is not empty for 'paper'."),
    ],
)
def test_a_file_has_advice_of_its_own(serve, file, advice):
    class Upload(APIView):
        permission_classes = []
        parser_classes = [MultiPartParser]
        serializer_class = Papers

        def post(self, request) -> Response:
            self.serializer_class(data=request.data).is_valid(raise_exception=True)
            return Response({})

    assert serve(Upload.as_view()).call(paper=file).data["remediation"].startswith(advice)


@pytest.mark.parametrize("style", ["flat", "grouped"])
def test_a_required_row_of_a_list_is_not_left_out(serve, style):
    served = serve(validating(Form, many=True), ARGUMENTS=style)
    rows = [{"number": None}]
    told = served.call(**({"items": rows} if style == "flat" else {"body": rows})).data
    assert "leave it out" not in told["remediation"]


def test_values_that_are_taken_together_are_no_argument_of_their_own(serve):
    class Pair(s.Serializer):
        number = s.IntegerField()

        def validate(self, attrs: Any) -> Any:
            raise s.ValidationError("Taken.", "unique")

    told = serve(validating(Pair)).call(number=1).data["remediation"]
    assert told == "Use another combination of values; this one is taken."


class Unpaged(ListAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []
    pagination_class = None

    def get_queryset(self) -> Any:
        raise NotFound("No catalogue.")


def test_a_list_without_pages_is_not_begun_at_the_first(serve):
    told = serve(path("things/", Unpaged.as_view())).call().data["remediation"]
    assert "page" not in told
