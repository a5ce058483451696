"""An unknown argument is passed on where code that cannot be read reads its place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.urls import path
from rest_framework import generics, serializers, views
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from drf_mcp.describers import Describer
from drf_mcp.errors import ArgumentsRefused

LINE = "shop/api.py:1 reads it"


class OpenQuery(Describer):
    line = LINE

    def get_schema(self):
        return replace(super().get_schema(), query_opened_by=self.line)


class OpenBody(OpenQuery):
    line = ""

    def get_request_body(self):
        body = super().get_request_body()
        nested = {
            place: replace(info, members=info.members and replace(info.members, opened_by=LINE))
            for field in body.fields
            for place, info in field.value_info.items()
        }
        fields = tuple(replace(f, value_info=nested if f.value_info else {}) for f in body.fields)
        return replace(body, fields=fields, opened_by=LINE)


class OpenBoth(OpenBody):
    line = LINE


class Line(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    product = serializers.CharField()
    quantity = serializers.IntegerField(required=False)


class Order(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    customer = serializers.CharField()
    reference = serializers.CharField(required=False)
    lines = Line(many=True, required=False)


class Echo:
    permission_classes = [AllowAny]
    serializer_class = Order

    def answer(self, request):
        return Response({"query": dict(request.GET.lists()), "body": request.data})


class Orders(Echo, generics.CreateAPIView):
    def create(self, request, *args, **kwargs):
        self.get_serializer(data=request.data).is_valid(raise_exception=True)
        return self.answer(request)


class Found(Echo, views.APIView):
    def get(self, request):
        request.query_params.get("status")
        return self.answer(request)

    def delete(self, request):
        request.query_params.get("status")
        return self.answer(request)


ORDERS, FOUND = path("orders/", Orders.as_view()), path("found/", Found.as_view())


@pytest.fixture
def bind(tools_of):
    def bind(pattern, describer, arguments, method="", **mcp_settings):
        names = {"DESCRIBER_CLASS": f"{__name__}.{describer.__name__}", **mcp_settings}
        tools = tools_of(pattern, **names).values()
        return next(t for t in tools if method in ("", t.endpoint.method)).bind(arguments)

    return bind


@pytest.fixture
def refused(bind):
    def refused(*args, **kwargs) -> list[tuple[str, str]]:
        with pytest.raises(ArgumentsRefused) as caught:
            bind(*args, **kwargs)
        return [(each.pointer, each.remediation) for each in caught.value.problems]

    return refused


def body_of(call: Any) -> Any:
    return json.loads(bytes(call.body))


def test_an_unknown_argument_of_a_read_goes_into_the_query(bind):
    call = bind(FOUND, OpenQuery, {"status": "paid", "color": ["red", "blue"]}, "GET")
    found = {"status": ["paid"], "color": ["red", "blue"]}
    assert dict(QueryDict(call.query_string).lists()) == found


def test_an_unknown_argument_of_a_write_goes_into_the_body(bind):
    call = bind(ORDERS, OpenBody, {"customer": "ann", "suffix": {"any": 1}})
    assert body_of(call) == {"customer": "ann", "suffix": {"any": 1}}
    assert call.query_string == ""


def test_the_warning_names_what_was_passed_on_and_comes_first(expose, agent_of):
    expose(ORDERS, DESCRIBER_CLASS=f"{__name__}.OpenBody")
    sent = {"customer": "ann", "suffix": 1, "lines": [{"product": "pan", "note": 1}]}
    for arguments in (sent, {**sent, "customer": None}):
        result = agent_of(None).call("orders_create", **arguments)
        warning = result.envelope["meta"]["warnings"][0]
        assert "'suffix'" in warning
        assert "'lines[0].note'" in warning
        assert "shop/api.py" not in warning


def test_nothing_is_warned_of_where_all_arguments_are_known(bind):
    sent = {"customer": "ann", "lines": [{"product": "pan"}]}
    assert bind(ORDERS, OpenBody, sent).warnings == ()


def test_a_slip_of_the_pen_is_refused_in_an_open_place(refused):
    for name in ("custome", "customerr", "cusotmer", "custamer", "Customer"):
        ((pointer, advice),) = refused(ORDERS, OpenBody, {name: "ann"})
        assert (pointer, advice) == (f"/{name}", "Did you mean 'customer'?")
    for name, right in (("refrences", "reference"), ("lnies", "lines")):
        ((pointer, advice),) = refused(ORDERS, OpenBody, {"customer": "ann", name: "x"})
        assert (pointer, advice) == (f"/{name}", f"Did you mean '{right}'?")


def test_two_letters_are_a_slip_only_in_long_names(bind):
    assert body_of(bind(ORDERS, OpenBody, {"customer": "a", "liens2": 1}))["liens2"] == 1


def test_no_slip_is_seen_of_an_argument_that_is_sent(bind):
    sent = {"customer": "ann", "customers": 2}
    assert body_of(bind(ORDERS, OpenBody, sent)) == sent


def test_a_name_near_a_required_one_that_is_missing_is_refused(refused):
    ((pointer, advice),) = refused(ORDERS, OpenBody, {"customer_name": "ann"})
    assert (pointer, advice) == ("/customer_name", "Did you mean 'customer'?")


def test_an_object_around_all_arguments_is_refused(refused, bind):
    for name in ("body", "data", "payload"):
        found = refused(ORDERS, OpenBody, {name: {"customer": "ann"}})
        assert (f"/{name}", f"Send the members of '{name}' as arguments.") in found
        sent = {"customer": "ann", name: "text"}
        assert body_of(bind(ORDERS, OpenBody, sent)) == sent


def test_an_open_body_takes_what_answers_show(bind):
    assert body_of(bind(ORDERS, OpenBody, {"customer": "ann", "id": 3}))["id"] == 3


def test_members_of_an_open_nested_object_are_passed_on(bind, refused):
    sent = {"customer": "ann", "lines": [{"product": "pan", "id": 7, "note": "x"}]}
    assert body_of(bind(ORDERS, OpenBody, sent)) == sent
    sent["lines"][0]["quantty"] = 2
    assert refused(ORDERS, OpenBody, sent) == [("/lines/0/quantty", "Did you mean 'quantity'?")]


def test_a_write_with_an_open_query_takes_further_parameters_in_query_alone(bind, refused):
    ((pointer, advice),) = refused(ORDERS, OpenQuery, {"customer": "ann", "color": "red"})
    assert pointer == "/color"
    assert "put it into 'query'" in advice
    call = bind(ORDERS, OpenQuery, {"customer": "ann", "query": {"color": "red"}})
    assert (call.query_string, body_of(call)) == ("color=red", {"customer": "ann"})
    assert "'query.color'" in call.warnings[0].message


def test_a_write_with_two_open_places_asks_for_one_of_them(bind, refused):
    ((pointer, advice),) = refused(ORDERS, OpenBoth, {"customer": "ann", "color": "red"})
    assert pointer == "/color"
    assert "put it into 'query' or 'body'" in advice
    sent = {"customer": "ann", "query": {"color": "red"}, "body": {"suffix": 1}}
    call = bind(ORDERS, OpenBoth, sent)
    assert call.query_string == "color=red"
    assert body_of(call) == {"customer": "ann", "suffix": 1}


def test_a_deletion_takes_what_is_not_described_in_query_alone(bind, refused):
    ((pointer, advice),) = refused(FOUND, OpenQuery, {"color": "red"}, "DELETE")
    assert pointer == "/color"
    assert "put it into 'query'" in advice
    call = bind(FOUND, OpenQuery, {"query": {"color": "red"}}, "DELETE")
    assert call.query_string == "color=red"


def test_the_schema_is_closed_only_where_unknown_arguments_are_refused(tools_of):
    def schemas(describer):
        tools = tools_of(ORDERS, FOUND, DESCRIBER_CLASS=f"{__name__}.{describer}").values()
        return {tool.endpoint.method: tool.input_schema for tool in tools}

    found = schemas("OpenQuery")
    assert "additionalProperties" not in found["GET"]
    assert "query" not in found["GET"]["properties"]
    assert found["DELETE"]["additionalProperties"] is False
    assert found["DELETE"]["properties"]["query"]["type"] == "object"
    assert found["POST"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas("OpenBody")["POST"]


def test_grouped_arguments_pass_in_the_group_of_their_place(bind, refused):
    grouped = {"ARGUMENTS": "grouped"}
    sent = {"query": {"color": "red"}}
    assert bind(FOUND, OpenQuery, sent, "GET", **grouped).query_string == "color=red"
    call = bind(ORDERS, OpenBody, {"body": {"customer": "ann", "suffix": 1}}, **grouped)
    assert body_of(call) == {"customer": "ann", "suffix": 1}
    found = refused(ORDERS, OpenBody, {"body": {"customer": "a"}, "query": {"x": 1}}, **grouped)
    assert [pointer for pointer, _ in found] == ["/query"]


def test_an_error_about_a_passed_argument_points_at_it(expose, agent_of):
    class Refusing(Orders):
        def create(self, request, *args, **kwargs):
            raise serializers.ValidationError({"suffix": "Too long."})

    expose(path("orders/", Refusing.as_view()), DESCRIBER_CLASS=f"{__name__}.OpenBody")
    result = agent_of(None).call("orders_create", customer="ann", suffix="abc")
    (problem,) = result.problems
    assert (problem["pointer"], problem["received"]) == ("/suffix", "abc")


def test_a_declared_open_object_takes_other_members(expose, agent_of):
    from drf_spectacular.openapi import AutoSchema
    from drf_spectacular.utils import extend_schema

    for further, is_open in ((True, True), ({}, True), ({"type": "string"}, True), (False, False)):
        members = {"number": {"type": "integer"}}
        declared = {"type": "object", "properties": members, "additionalProperties": further}

        class Declared(views.APIView):
            permission_classes = [AllowAny]
            schema = AutoSchema()

            @extend_schema(request={"application/json": declared}, responses=dict)
            def post(self, request):
                return Response(request.data)

        expose(path("declared/", Declared.as_view()))
        (name,) = agent_of(None).tools()
        result = agent_of(None).call(name, number=1, more="x")
        assert result.is_error is not is_open
        assert not is_open or result.envelope["data"] == {"number": 1, "more": "x"}


def test_a_finding_names_what_opens_a_place(tools_of):
    tools = tools_of(ORDERS, DESCRIBER_CLASS=f"{__name__}.OpenBoth")
    (tool,) = tools.values()
    says = [finding.message for finding in tool.findings]
    assert [says.count(text) for text in says] == [1, 1]
    assert all(LINE in text for text in says)


def test_a_check_of_deployments_names_what_opens_a_place(expose):
    from django.core.checks import run_checks

    expose(FOUND, DESCRIBER_CLASS=f"{__name__}.OpenQuery")
    found = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
    (first, *_others) = [each for each in found if each.id == "drf_mcp.W040"]
    assert "found" in first.msg
    assert LINE in first.msg
    assert "@mcp_tool(query=" in first.hint
