"""The problems of refused arguments, and the pointers of the errors of a view."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.views import APIView

from drf_mcp.arguments.errors import MASK
from drf_mcp.errors import ArgumentsRefused
from drf_mcp.outcomes import MISSING


class LineSerializer(serializers.Serializer):
    quantity = serializers.IntegerField(min_value=1, max_value=9)
    voucher = serializers.CharField(write_only=True, required=False)


class BoxSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=5)
    colour = serializers.ChoiceField(choices=["red", "blue"], required=False)
    password = serializers.CharField(required=False)
    code = serializers.CharField(required=False, write_only=True)
    lines = LineSerializer(many=True, required=False)
    owner = serializers.DictField(required=False)
    packed_by = serializers.CharField(read_only=True)


BoxSerializer._declared_fields["a/b~c"] = serializers.CharField(required=False)


class Boxes(generics.CreateAPIView):
    serializer_class = BoxSerializer


class ManyBoxes(Boxes):
    def get_serializer(self, *args, **kwargs):
        return super().get_serializer(*args, many=True, **kwargs)


class Anything(APIView):
    def post(self, request):
        return request.data


class Numbered(serializers.Serializer):
    def get_fields(self):
        return {f"f{number}": serializers.CharField() for number in range(50)}


class Numbers(generics.CreateAPIView):
    serializer_class = Numbered


@pytest.fixture
def tool_of(tools_of):
    def tool(view=Boxes, **mcp_settings):
        return next(
            iter(tools_of(path("boxes/<int:pk>/", view.as_view()), **mcp_settings).values())
        )

    return tool


@pytest.fixture
def problem_of(tool_of):
    def problem(arguments, **mcp_settings):
        with pytest.raises(ArgumentsRefused) as caught:
            tool_of(**mcp_settings).bind(arguments)
        (problem,) = caught.value.problems
        return problem

    return problem


# --- Refused arguments --------------------------------------------------------------------


def test_an_unknown_argument_is_answered_with_its_value_and_the_similar_name(problem_of):
    problem = problem_of({"pk": 1, "name": "a", "nmae": ["x"]})
    assert (problem.code, problem.pointer, problem.received) == ("unknown", "/nmae", ["x"])
    assert problem.accepted == "name"
    assert problem.message == "Unknown argument."
    assert problem.remediation == "Did you mean 'name'?"


def test_a_read_only_field_is_answered_as_read_only(problem_of):
    for arguments, mcp_settings, pointer in [
        ({"pk": 1, "name": "a", "packed_by": "me"}, {}, "/packed_by"),
        (
            {"kwargs": {"pk": 1}, "body": {"name": "a", "packed_by": "me"}},
            {"ARGUMENTS": "grouped"},
            "/body/packed_by",
        ),
    ]:
        problem = problem_of(arguments, **mcp_settings)
        assert (problem.code, problem.pointer, problem.received) == ("read_only", pointer, "me")
        assert problem.message == "This argument is read-only.", arguments
        assert problem.remediation == "Leave it out: the server sets it.", arguments


def test_with_an_open_body_an_unknown_argument_may_be_a_part_of_the_body(tool_of):
    with pytest.raises(ArgumentsRefused) as refused:
        tool_of(Anything).bind({"pk": 1, "name": "x"})
    (problem,) = refused.value.problems
    assert problem.remediation == "Correct its name, or put it into 'body'."


def test_secrets_in_unknown_arguments_are_masked(problem_of):
    for name, value, received in [
        ("passwrd_password", "hunter2", MASK),
        ("api_key", {"a": 1}, MASK),
        ("pasword", "hunter2", MASK),
        ("coed", "hunter2", MASK),
        ("card", {"pan": "x", "cvv": 123, "rows": [{"token": "t"}]}, None),
    ]:
        expected = received or {"pan": "x", "cvv": MASK, "rows": [{"token": MASK}]}
        assert problem_of({"pk": 1, "name": "a", name: value}).received == expected


def test_a_mistyped_name_of_a_nested_secret_shows_no_value(problem_of):
    lines = [{"quantity": 1, "vouchr": "V"}]
    assert problem_of({"pk": 1, "name": "a", "lines": lines}).received == MASK


def test_secrets_in_arguments_of_the_wrong_type_are_masked(problem_of):
    assert problem_of([{"password": "hunter2"}]).received == [{"password": MASK}]


def test_every_unknown_and_every_missing_argument_is_a_problem(tool_of):
    with pytest.raises(ArgumentsRefused) as caught:
        tool_of().bind({"one": 1, "two": 2})
    assert [p.pointer for p in caught.value.problems] == ["/pk", "/name", "/one", "/two"]


def test_at_most_20_unknown_arguments_are_named(tool_of):
    with pytest.raises(ArgumentsRefused) as caught:
        tool_of().bind({"pk": 1, "name": "a", **{f"x{n}": n for n in range(1000)}})
    assert len(caught.value.problems) == 20


# --- Pointers -----------------------------------------------------------------------------


@pytest.fixture
def pointers_of(tool_of):
    def pointers(arguments, view=Boxes, **mcp_settings):
        tool = tool_of(view, **mcp_settings)
        return tool.pointers(tool.bind(arguments))

    return pointers


LINES = {"pk": 1, "lines": [{"quantity": 1}, {"quantity": 99, "voucher": "V"}]}


def test_an_error_of_the_view_points_at_the_argument(pointers_of):
    for where, pointer, received, accepted in [
        ((), "", LINES, None),
        (("name",), "/name", MISSING, "a string from 1 to 5 characters"),
        (("pk",), "/pk", 1, None),
        (("lines", 1, "quantity"), "/lines/1/quantity", 99, "an integer from 1 to 9"),
        (("lines", 1, "voucher"), "/lines/1/voucher", MASK, None),
        (("lines", 7), "/lines/7", MISSING, None),
        (("lines", "²"), "/lines/²", MISSING, None),
        (("colour",), "/colour", MISSING, "one of red, blue"),
    ]:
        found = pointers_of(LINES)
        assert found.pointer(where) == pointer
        if received != LINES:
            assert found.received(pointer) == received
        if accepted is not None:
            assert found.accepted(pointer) == accepted


def test_keys_are_escaped_in_the_pointer(pointers_of):
    found = pointers_of({"pk": 1, "owner": {"a/b~c": 5}})
    assert found.pointer(("owner", "a/b~c")) == "/owner/a~1b~0c"
    assert found.received("/owner/a~1b~0c") == 5


def test_values_that_are_secret_by_name_or_write_only_are_masked(pointers_of):
    cases = ["password", "code"]
    assert [
        name
        for name in cases
        if pointers_of({"pk": 1, name: "hunter2"}).received(f"/{name}") != MASK
    ] == []


def test_nested_write_only_fields_in_a_received_value_are_masked(pointers_of):
    rows = [{"quantity": 1}, {"quantity": 99, "voucher": MASK}]
    assert pointers_of(LINES).received("/lines") == rows
    assert pointers_of(LINES).received("") == {"pk": 1, "lines": rows}


def test_rows_of_a_list_body_have_pointers_and_are_masked(pointers_of):
    rows = [{"name": "a", "code": "hunter2"}, {"name": "toolong"}]
    found = pointers_of({"pk": 1, "items": rows}, ManyBoxes)
    assert found.pointer((1, "name")) == "/items/1/name"
    assert found.received("/items/1/name") == "toolong"
    assert found.received("/items/0") == {"name": "a", "code": MASK}
    assert found.accepted("/items/1/name") == "a string from 1 to 5 characters"
    assert found.knows(1)


def test_grouped_arguments_have_pointers_and_are_masked(pointers_of):
    lines = [{"quantity": 99}]
    arguments = {"kwargs": {"pk": 1}, "body": {"lines": lines, "code": "hunter2"}}
    found = pointers_of(arguments, ARGUMENTS="grouped")
    assert found.pointer(("pk",)) == "/kwargs/pk"
    assert found.pointer(("lines", 0, "quantity")) == "/body/lines/0/quantity"
    assert found.received("/body/lines/0/quantity") == 99
    assert found.received("/body") == {"lines": lines, "code": MASK}
    assert found.accepted("/body/lines/0/quantity") == "an integer from 1 to 9"
