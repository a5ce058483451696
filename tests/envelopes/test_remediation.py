"""Every error has a remediation that fits its cause."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import include, path, re_path
from rest_framework import generics, viewsets
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, NotFound
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp import mcp_viewset
from drf_mcp.codes import BY_CATEGORY, STATUS_ADVICE, STATUS_CODES
from drf_mcp.envelopes import error_response
from drf_mcp.exceptions import SoftFailure
from example_project.shop.models import Product
from example_project.shop.pagination import NumberedPages
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import validating
from tests.envelopes.cases import RAISED
from tests.envelopes.conftest import ENVELOPES

AGAIN_AS_IT_IS = ("Try again later", "Wait", "Find out whether")
CORRECTED = ("Correct", "Send", "Ask for a part", "Use another", "Provide", "Look up", "Where an")
CHANGED = ("The same call would be refused again",)
NEVER = ("Do not repeat", "It is gone", "This operation does not exist", "Do not send")
FIRST_LOOK = ("Read the", "Mend what", "Do what the message")
EXPECTED = {
    400: CHANGED, 401: CORRECTED, 402: FIRST_LOOK, 403: NEVER, 404: CORRECTED, 405: NEVER,
    406: NEVER, 407: FIRST_LOOK, 408: AGAIN_AS_IT_IS, 409: FIRST_LOOK, 410: NEVER,
    412: FIRST_LOOK, 413: CORRECTED, 415: CORRECTED, 418: FIRST_LOOK, 422: CHANGED,
    423: FIRST_LOOK, 428: NEVER, 429: AGAIN_AS_IT_IS, 451: FIRST_LOOK, 500: AGAIN_AS_IT_IS,
    501: NEVER, 502: AGAIN_AS_IT_IS, 503: AGAIN_AS_IT_IS, 504: AGAIN_AS_IT_IS, 507: AGAIN_AS_IT_IS,
}  # fmt: skip
"""What a caller can do about each status: the same call again, another, none, or look first."""
GENERAL = "Look up which identifiers exist, then call again with one of them."


def hint(name: str) -> str:
    return f"Use {name} to find existing ids, then call again with one of them."


def get_remediation(result: Any) -> str:
    return result.data["remediation"]


def failing(status: int, code: str = "error") -> APIException:
    members = {"status_code": status, "default_code": code, "default_detail": "Said."}
    return type("ProjectError", (APIException,), members)()


# --- Statuses and exceptions ---------------------------------------------------------------


@pytest.mark.slow
def test_each_status_has_a_remediation_that_fits_it(thing):
    """Whether or not the project's exception has a code of its own."""
    assert STATUS_ADVICE.keys() | STATUS_CODES.keys() | BY_CATEGORY <= EXPECTED.keys()
    found = {
        (status, code): get_remediation(thing.answer_with(failing(status, code)).call())
        for status in EXPECTED
        for code in ("error", "own_code")
    }
    assert {key: found[key] for key in found if not found[key].startswith(EXPECTED[key[0]])} == {}


def test_an_error_that_no_call_can_correct_is_not_recoverable(thing):
    expected = {406: False, 410: False, 418: True, 504: True}
    found = {}
    for status in expected:
        (error,) = thing.answer_with(failing(status)).read("status")["errors"]
        found[status] = error["recoverable"]
    assert found == expected


@pytest.mark.slow
def test_every_exception_has_a_remediation_in_every_envelope(thing):
    short = set()
    for name, make in RAISED.items():
        thing.answer_with(make())
        messages = [get_remediation(thing.call())]
        messages += [error["fix_hint"] for error in thing.read("ok")["errors"]]
        messages += [error["suggestion"] for error in thing.read("status")["errors"]]
        short |= {name for text in messages if len(text) <= 10}
    assert short == set()


def test_an_answer_that_cannot_be_encoded_asks_not_to_repeat_the_call(thing):
    for value in (float("nan"), object()):
        for envelope in ENVELOPES:
            text = str(thing.answer_with({"rate": value}).call(envelope).raw)
            assert "Do not repeat the call: it may have taken effect" in text
            assert "Try again" not in text
            assert '"recoverable":true' not in text.replace(" ", "")


def test_the_remediation_of_a_views_envelope_is_kept(thing):
    body = error_response("Gone.", error_code="NOT_FOUND", remediation="Ask Eve.")
    thing.answer_with(body, status=404)
    assert [name for name in ENVELOPES if "Ask Eve." not in str(thing.call(name).raw)] == []


# --- Arguments -----------------------------------------------------------------------------


def test_an_error_about_an_argument_asks_to_correct_it_for_any_status(serve):
    class Plan(s.Serializer):
        plan = s.CharField()

        def validate_plan(self, plan: str) -> str:
            raise type("Unpaid", (APIException,), {"status_code": 402})({"plan": ["Too small."]})

    assert get_remediation(serve(validating(Plan)).call(plan="free")).startswith("Correct it.")


class Line(s.Serializer):
    copy_out = s.IntegerField()
    copy_in = s.IntegerField(required=False)


class Form(s.Serializer):
    number = s.IntegerField()
    size = s.IntegerField(required=False)
    price = s.DecimalField(max_digits=4, decimal_places=2, required=False)
    tags = s.ListField(child=s.CharField(), allow_empty=False, required=False)
    lines = Line(many=True, required=False)

    def validate_number(self, number: int) -> int:
        if number == 13:
            raise s.ValidationError("Thirteen is taken.")
        return number


PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("Send an integer.", {}),
    ("Send an integer.", {"number": None}),
    ("Send an integer.", {"number": "many"}),
    ("Send a value other than null, or leave it out.", {"number": 1, "size": None}),
    ("Do not send it empty.", {"number": 1, "tags": []}),
    ("Use fewer digits.", {"number": 1, "price": "12345"}),
    ("Use fewer digits before the decimal point.", {"number": 1, "price": "123.4"}),
    ("Use fewer decimal places.", {"number": 1, "price": "1.234"}),
    ("Use fewer digits.", {"number": "1" * 2000}),
    ("Send an integer.", {"number": 1, "lines": [{"copy_out": None}]}),
    (
        "Send a value other than null, or leave it out.",
        {"number": 1, "lines": [{"copy_out": 1, "copy_in": None}]},
    ),
    # The type of the value is correct: the view's message gives the reason.
    ("Correct it.", {"number": 13}),
]


def test_each_problem_has_a_remediation_that_fits_it(serve):
    served = serve(validating(Form))
    for advice, arguments in PROBLEMS:
        text = get_remediation(served.call(**arguments))
        assert text.startswith(advice), arguments
        assert ("leave it out" in text) is ("leave it out" in advice), arguments


class Papers(s.Serializer):
    paper = s.FileField(max_length=5)


def test_a_file_has_its_own_remediation(serve):
    class Upload(APIView):
        permission_classes = []
        parser_classes = [MultiPartParser]
        serializer_class = Papers

        def post(self, request) -> Response:
            self.serializer_class(data=request.data).is_valid(raise_exception=True)
            return Response({})

    served = serve(Upload.as_view())
    long = get_remediation(served.call(paper="data:text/plain;name=much_too_long.txt;base64,aGk="))
    assert long.startswith("Shorten the file name.")
    empty = get_remediation(served.call(paper="data:text/plain;name=a.txt;base64,"))
    assert empty.startswith("Send a file that is not empty.")


def test_a_remediation_does_not_leave_out_a_required_row(serve):
    for style, name in (("flat", "items"), ("grouped", "body")):
        served = serve(validating(Form, many=True), ARGUMENTS=style)
        assert "leave it out" not in get_remediation(served.call(**{name: [{"number": None}]}))


def test_an_error_about_several_arguments_names_no_argument(serve):
    class Pair(s.Serializer):
        number = s.IntegerField()

        def validate(self, attrs: Any) -> Any:
            raise s.ValidationError("Taken.", "unique")

    text = get_remediation(serve(validating(Pair)).call(number=1))
    assert text == "Use another combination of values; this one is taken."


# --- What is not found ---------------------------------------------------------------------

NOT_FOUND: list[tuple[str, dict[str, Any], str]] = [
    ("customers_retrieve", {"pk": 10**9}, "customers_list"),
    ("customers_retrieve", {"pk": "none"}, "customers_list"),
    ("customers_destroy", {"pk": 10**9}, "customers_list"),
    ("customers_summary", {"pk": 10**9}, "customers_list"),
    ("products_retrieve", {"slug": "no-such"}, "products_list"),
    ("customers_orders_list", {"customer_pk": 10**9}, "customers_list"),
    ("tickets_retrieve", {"ids": [10**9]}, "tickets_list"),
    # Of a parent that does not exist, its own list.
    ("customers_orders_retrieve", {"customer_pk": 0, "pk": 0}, "customers_list"),
]


@pytest.mark.slow
def test_not_found_points_to_the_list_tool(alice):
    """Of a page that does not exist, the first is the way out."""
    results = [alice.call_with(tool, arguments) for tool, arguments, _ in NOT_FOUND]
    assert {result.code for result in results} == {"NOT_FOUND"}
    assert [get_remediation(result) for result in results] == [hint(tool) for *_, tool in NOT_FOUND]
    mine = alice.call("customers_list").data["results"][0]["id"]
    # Else the nearest list is the one.
    missing = alice.call("customers_orders_retrieve", customer_pk=mine, pk=0)
    assert get_remediation(missing) == hint("customers_orders_list")
    below = {"customer_pk": mine, "cursor": "none"}
    for tool, sent in (("customers_list", {"page": 99}), ("customers_orders_list", below)):
        paged = alice.call_with(tool, sent)
        assert paged.code == "NOT_FOUND"
        assert (
            get_remediation(paged)
            == "Start at the first page, and go on with the arguments of the next."
        )


class Unpaged(ListAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []
    pagination_class = None

    def get_queryset(self) -> Any:
        raise NotFound("No catalogue.")


def test_a_list_without_pages_has_no_hint_at_the_first_page(serve):
    assert "page" not in get_remediation(serve(path("things/", Unpaged.as_view())).call())


class Things(viewsets.ModelViewSet):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []
    pagination_class = NumberedPages


def routed(viewset: type, **options: Any) -> Any:
    router = SimpleRouter(**options)
    router.register("things", viewset, "thing")
    return path("", include(router.urls))


def test_a_list_that_is_no_tool_is_not_named(serve):
    @mcp_viewset(actions=["retrieve"])
    class Hidden(Things):
        pass

    served = serve(routed(Hidden), EXPOSE="explicit")
    assert get_remediation(served.call(pk=10**9)) == GENERAL


def test_the_list_tool_is_found_for_paths_without_a_trailing_slash(serve):
    served = serve(routed(Things, trailing_slash=False))
    result = served.agent("response_v2").call("things_retrieve", pk=10**9)
    assert get_remediation(result) == hint("things_list")


def test_the_list_tool_is_found_for_generic_views_under_regular_expressions(serve):
    members = {name: vars(Things)[name] for name in ("queryset", "serializer_class")}
    members["permission_classes"] = []
    listed = type("Listed", (generics.ListAPIView,), members)
    shown = type("Shown", (generics.RetrieveAPIView,), members)
    served = serve(
        re_path(r"^things/$", listed.as_view()),
        re_path(r"^things/(?P<pk>[0-9]+)/$", shown.as_view()),
    )
    result = served.agent("response_v2").call("things_retrieve", pk=10**9)
    assert get_remediation(result) == hint("things_list")


def test_a_view_that_is_no_list_is_not_named(serve):
    class Other(viewsets.ViewSet):
        permission_classes = []

        def retrieve(self, request, pk: str) -> Response:
            raise NotFound()

        @action(detail=False)
        def newest(self, request) -> Response:
            raise NotFound()

    agent = serve(routed(Other)).agent("response_v2")
    assert get_remediation(agent.call("things_retrieve", pk=1)) == GENERAL
    assert get_remediation(agent.call("things_newest")) == GENERAL


def test_a_soft_not_found_points_to_the_list_tool_too(serve):
    class Soft(Things):
        def retrieve(self, request, pk: str) -> Response:
            raise SoftFailure("No such thing.", "not_found")

    served = serve(routed(Soft))
    result = served.agent("ok").call("things_retrieve", pk=1)
    assert "isError" not in result.raw
    assert result.envelope["errors"][0]["fix_hint"] == hint("things_list")
