"""Problems of arguments have pointers into the arguments that the caller sent."""

from __future__ import annotations

from typing import Any

import pytest
from django_filters import rest_framework as filters
from rest_framework import generics, serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.response import Response
from rest_framework.views import APIView

from example_project.shop.models import Customer, Product
from tests.dispatch.views import raising, validating


class Line(serializers.Serializer):
    quantity = serializers.IntegerField(min_value=1)
    sizes = serializers.ListField(child=serializers.IntegerField(), required=False)

    def validate(self, line: dict[str, Any]) -> dict[str, Any]:
        if line["quantity"] == 13:
            raise ValidationError("An unlucky line.", code="unlucky")
        return line


class Basket(serializers.Serializer):
    name = serializers.CharField(max_length=20)
    code = serializers.CharField(required=False, write_only=True, max_length=3)
    password = serializers.CharField(required=False, max_length=5)
    tier = serializers.ChoiceField(["gold", "silver"], required=False)
    lines = Line(many=True, required=False)
    labels = serializers.DictField(child=serializers.IntegerField(), required=False)

    def validate_name(self, name: str) -> str:
        if name == "taken":
            raise ValidationError("Taken.", code="unique")
        return name

    def validate(self, basket: dict[str, Any]) -> dict[str, Any]:
        if basket["name"] == "clash":
            raise ValidationError("It clashes.", code="clash")
        return basket


class Note(serializers.Serializer):
    detail = serializers.CharField()
    message = serializers.CharField()


def summary(problem: dict[str, Any]) -> tuple[Any, ...]:
    return problem["pointer"], problem["code"], problem.get("received", "not said")


CASES = [
    ({}, "MISSING_REQUIRED", [("/name", "required", None)]),
    ({"name": "taken"}, "DUPLICATE_ENTRY", [("/name", "unique", "taken")]),
    ({"name": None}, "VALIDATION_ERROR", [("/name", "null", None)]),
    ({"name": ""}, "VALIDATION_ERROR", [("/name", "blank", "")]),
    ({"name": ["x"]}, "VALIDATION_ERROR", [("/name", "invalid", ["x"])]),
    # The message contains the value: "tin" is not a valid choice.
    ({"name": "x", "tier": "tin"}, "VALIDATION_ERROR", [("/tier", "invalid_choice", "not said")]),
    ({"name": "clash"}, "VALIDATION_ERROR", [("", "clash", "not said")]),
    ({"name": "x", "lines": {}}, "VALIDATION_ERROR", [("/lines", "not_a_list", {})]),
    ({"name": "x", "lines": [{}]}, "MISSING_REQUIRED", [("/lines/0/quantity", "required", None)]),
    (
        {"name": "x", "lines": [{"quantity": 1}, {"quantity": 0}]},
        "VALIDATION_ERROR",
        [("/lines/1/quantity", "min_value", 0)],
    ),
    (
        {"name": "x", "lines": [{"quantity": 2, "sizes": [1, "big", 3, None]}]},
        "VALIDATION_ERROR",
        [("/lines/0/sizes/1", "invalid", "big"), ("/lines/0/sizes/3", "null", None)],
    ),
    (
        {"name": "x", "lines": [{"quantity": 13}]},
        "VALIDATION_ERROR",
        [("/lines/0", "unlucky", {"quantity": 13})],
    ),
    (
        {"name": "x", "labels": {"a/b": "red", "c": 2}},
        "VALIDATION_ERROR",
        [("/labels/a~1b", "invalid", "red")],
    ),
    (
        {"name": "x" * 21, "lines": [{"quantity": 0}]},
        "VALIDATION_ERROR",
        [("/name", "max_length", "x" * 21), ("/lines/0/quantity", "min_value", 0)],
    ),
]


@pytest.mark.slow
def test_each_problem_has_the_pointer_and_the_value_of_its_argument(subtests, serve):
    for arguments, code, problems in CASES:
        with subtests.test(arguments=arguments, code=code, problems=problems):
            thing = serve(validating(Basket))
            result = thing.call(**arguments)
            assert thing.http.post("/thing/", arguments).status_code == 400
            assert (result.code, [summary(p) for p in result.problems]) == (code, problems)
            assert all(problem["message"] and problem["remediation"] for problem in result.problems)


@pytest.mark.slow
def test_pointers_into_a_list_body_begin_with_items(subtests, serve):
    for arguments, code, problems in CASES:
        with subtests.test(arguments=arguments, code=code, problems=problems):
            result = serve(validating(Basket, many=True)).call(items=[{"name": "good"}, arguments])
            expected = [(f"/items/1{pointer}", *rest) for pointer, *rest in problems]
            whole = [
                (p, c, arguments if p == "/items/1" else received) for p, c, received in expected
            ]
            assert (result.code, [summary(p) for p in result.problems]) == (code, whole)


def test_details_are_those_of_the_first_problem(serve):
    arguments = {"name": "x", "lines": [{"quantity": 0}, {"quantity": -1}]}
    result = serve(validating(Basket)).call(**arguments)
    details = result.data["details"]
    assert (details["field"], details["constraint"]) == ("lines[0].quantity", "min_value")
    assert details["received"] == 0
    assert result.envelope["error"] == (
        "lines[0].quantity: Ensure this value is greater than or equal to 1. (1 more problem)"
    )
    assert result.data["remediation"] == result.problems[0]["remediation"]
    assert result.data["remediation"] == "Use a larger value."


def test_a_problem_names_what_would_be_accepted(serve):
    (problem,) = serve(validating(Basket)).call(name="x", tier="tin").problems
    assert "gold" in problem["remediation"]
    assert "silver" in problem["remediation"]
    lines = [{"quantity": 0}]
    (problem,) = serve(validating(Basket)).call(name="x", lines=lines).problems
    assert problem["accepted"] == "an integer of at least 1"


class Twice(serializers.Serializer):
    code = serializers.CharField()

    def validate_code(self, code: str) -> str:
        details = [ErrorDetail("No.", "first"), ErrorDetail("Never.", "second")]
        raise serializers.ValidationError(details)


class Loan(serializers.Serializer):
    product = serializers.PrimaryKeyRelatedField(queryset=Product.objects.all(), write_only=True)
    login = Basket(required=False)


SECRETS = {"password": "hunter2!", "tokens": ["abc"], "city": "Bonn"}
MASKED = {"password": "********", "tokens": "********", "city": "Bonn"}


def test_secrets_and_write_only_values_are_masked(subtests, serve):
    for serializer, arguments, problem in [
        (Basket, {"name": "x", "password": "hunter2!"}, ("/password", "max_length", "********")),
        (Basket, {"name": "x", "code": "0815"}, ("/code", "max_length", "********")),
        (Basket, {"name": "x", "lines": SECRETS}, ("/lines", "not_a_list", MASKED)),
        # A foreign key that is write_only is not a secret.
        (Loan, {"product": [1]}, ("/product", "incorrect_type", [1])),
    ]:
        with subtests.test(serializer=serializer, arguments=arguments, problem=problem):
            result = serve(validating(serializer)).call(**arguments)
            assert [summary(found) for found in result.problems] == [problem]
            assert "hunter2!" not in str(result.raw)


def test_a_text_that_holds_secrets_in_place_of_an_object_is_masked(serve):
    (problem,) = serve(validating(Basket)).call(name="x", lines="hunter2").problems
    assert problem["received"] == "hunter2"
    product = Product.objects.first().pk
    sent = '{"code": "hunter2",}'
    (problem,) = serve(validating(Loan)).call(product=product, login=sent).problems
    assert summary(problem)[0] == "/login"
    assert problem["received"] == "********"


class CustomerFilter(filters.FilterSet):
    joined = filters.DateFilter()
    country = filters.ChoiceFilter(choices=[("DE", "Germany"), ("FR", "France")])

    class Meta:
        model = Customer
        fields = ["owner"]


class Customers(generics.ListAPIView):
    permission_classes = []
    queryset = Customer.objects.order_by("pk")
    filter_backends = [filters.DjangoFilterBackend]
    filterset_class = CustomerFilter
    serializer_class = type(
        "S",
        (serializers.ModelSerializer,),
        {"Meta": type("Meta", (), {"model": Customer, "fields": ["id"]})},
    )


def test_a_query_parameter_that_django_filter_refuses_has_a_pointer(serve):
    thing = serve(Customers.as_view())
    query = {"joined": "yesterday", "country": "XX"}
    result = thing.call(**query)
    assert thing.get(**query).status_code == 400
    found = {p["pointer"]: p["code"] for p in result.problems}
    assert found == {"/joined": "invalid", "/country": "invalid_choice"}


class Numbered(APIView):
    permission_classes = []

    def get(self, request, number: str) -> Response:
        raise ValidationError({"number": ["No such number."]}, code="unknown_number")


def test_a_path_argument_has_a_pointer(serve):
    thing = serve(Numbered.as_view(), route="thing/<str:number>/")
    (problem,) = thing.call(number="9x").problems
    assert summary(problem) == ("/number", "unknown_number", "9x")


def test_a_key_that_is_no_argument_is_part_of_the_message(serve):
    result = serve(raising(ValidationError({"stock": ["Nothing left."]}, code="sold_out"))).call()
    assert [summary(p) for p in result.problems] == [("", "sold_out", "not said")]
    assert result.envelope["error"] == "stock: Nothing left."


class Move(serializers.Serializer):
    status = serializers.ChoiceField(["pending", "paid", "shipped"])
    level = serializers.ChoiceField([(1, "low"), (2, "high")], required=False)
    only = serializers.ChoiceField(["draft"], required=False)

    def validate_status(self, status: str) -> str:
        if status == "pending":
            raise ValidationError("A paid order is never pending again.")
        return status

    def validate_level(self, level: int) -> int:
        raise ValidationError("Not now.", code="invalid_choice")

    validate_only = validate_level


@pytest.mark.parametrize(
    ("sent", "accepted"),
    [
        ({"status": "pending"}, "one of paid, shipped"),
        ({"status": "lost"}, "one of pending, paid, shipped"),
        ({"status": "paid", "level": 1}, "one of 2"),
        ({"status": "paid", "only": "draft"}, "Use an accepted value"),
    ],
)
def test_a_choice_that_a_state_refuses_is_not_among_the_accepted_values(serve, sent, accepted):
    data = serve(validating(Move)).call(**sent).envelope["data"]
    said = data["details"].get("accepted", data["remediation"])
    assert said.removeprefix("Send ").removesuffix(".") == accepted


class Parts(APIView):
    permission_classes = []

    def post(self, request) -> Response:
        Line(data=request.data["order"]).is_valid(raise_exception=True)
        return Response({})


@pytest.mark.parametrize(
    ("order", "end"),
    [({"quantity": 0}, "/order/quantity"), ({"sizes": [1, "x"]}, "/order/sizes/1")],
)
def test_a_problem_in_a_part_of_the_body_has_its_place_there(serve, order, end):
    thing = serve(Parts.as_view())
    (tool,) = thing.agent.tools().values()
    names = tool["inputSchema"]["properties"]
    body = {"order": {"quantity": 1, **order}}
    result = thing.call(**({"body": body} if "body" in names else body))
    details = result.envelope["data"]["details"]
    pointer = "/" + details["field"].replace("[", "/").replace("]", "").replace(".", "/")
    assert details.get("pointer", pointer).endswith(end)
