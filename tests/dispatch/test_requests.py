"""The request of a view: the body for its parsers, the query, headers and negotiation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.http.request import HttpHeaders
from rest_framework import VERSION, parsers, serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.dispatch.views import answering, validating

# Earlier versions of REST framework read a DictField of any form as empty.
READS_DICTS = pytest.mark.skipif(
    tuple(map(int, VERSION.split(".")[:2])) < (3, 18), reason="since REST framework 3.18"
)


class Line(serializers.Serializer):
    unit_price = serializers.DecimalField(max_digits=6, decimal_places=2)


class Basket(serializers.Serializer):
    first_name = serializers.CharField(max_length=10)
    is_gift = serializers.BooleanField(required=False)
    sizes = serializers.ListField(child=serializers.IntegerField(), required=False)
    order_line = Line(required=False)


BASKET = {"first_name": "Zoë & 🎩=1", "is_gift": True, "sizes": [1, 2, 3]}


def with_parsers(*classes: type, many: bool = False) -> Any:
    view = validating(Basket, many=many)
    view.cls.parser_classes = list(classes)
    return view


def test_the_body_has_the_format_of_the_views_parser(subtests, serve):
    for parser, http_format in [
        (parsers.JSONParser, "json"),
        (parsers.FormParser, None),
        (parsers.MultiPartParser, "multipart"),
    ]:
        with subtests.test(parser=parser, http_format=http_format):
            thing = serve(with_parsers(parser))
            if http_format is None:
                form = QueryDict(mutable=True)
                form.update({"first_name": BASKET["first_name"], "is_gift": "true"})
                form.setlist("sizes", ["1", "2", "3"])
                over_http = thing.http.post(
                    "/thing/", form.urlencode(), content_type="application/x-www-form-urlencoded"
                )
            else:
                over_http = thing.http.post("/thing/", BASKET, format=http_format)
            assert over_http.status_code == 201
            assert thing.call(**BASKET).data == over_http.json() == BASKET


def test_problems_of_a_form_have_pointers(subtests, serve):
    for parser in [parsers.FormParser, parsers.MultiPartParser]:
        with subtests.test(parser=parser):
            result = serve(with_parsers(parser)).call(first_name="x" * 11, sizes=[1, "big"])
            found = {p["pointer"]: (p["code"], p["received"]) for p in result.problems}
            assert found == {
                "/first_name": ("max_length", "x" * 11),
                "/sizes/1": ("invalid", "big"),
            }


class Row(serializers.Serializer):
    price = serializers.DecimalField(max_digits=6, decimal_places=2)
    sizes = serializers.ListField(child=serializers.IntegerField(), required=False)
    inner = Line(required=False)


class Everything(serializers.Serializer):
    row = Row()
    rows = Row(many=True, required=False)
    anything = serializers.JSONField(required=False)
    tiers = serializers.MultipleChoiceField(choices=["gold", "silver"], required=False)


NESTED = {
    "row": {"price": "1.00", "sizes": [1, 2], "inner": {"unit_price": "2.00"}},
    "rows": [
        {"price": "3.00", "sizes": [3, 4], "inner": {"unit_price": "5.00"}},
        {"price": "6.00"},
    ],
    "anything": {"a": [1, {"b": None}]},
    "tiers": ["gold", "silver"],
}


class Labelled(serializers.Serializer):
    labels = serializers.DictField(child=serializers.CharField())


@pytest.mark.parametrize(
    "parser",
    [
        parsers.JSONParser,
        pytest.param(parsers.FormParser, marks=READS_DICTS),
        pytest.param(parsers.MultiPartParser, marks=READS_DICTS),
    ],
)
def test_a_dict_field_reaches_a_view_through_any_parser(serve, parser):
    view = validating(Labelled)
    view.cls.parser_classes = [parser]
    labels = {"x": "é", "y.z": "]["}
    assert serve(view).call(labels=labels).data == {"labels": labels}


def test_an_empty_value_that_a_form_cannot_have_is_refused(subtests, serve):
    """A form without the field would leave the object unchanged."""

    class Change(APIView):
        permission_classes = []

        def get_serializer(self, **kwargs):
            return Basket(partial=True, **kwargs)

        def patch(self, request):
            checked = self.get_serializer(data=request.data)
            checked.is_valid(raise_exception=True)
            return Response(checked.validated_data)

    for parser in [parsers.FormParser, parsers.MultiPartParser]:
        thing = serve(Change.as_view(parser_classes=[parser]))
        for name, nothing, said in [
            ("sizes", [], "an empty list"),
            ("is_gift", None, "null"),
            ("order_line", {}, "an empty object"),
        ]:
            with subtests.test(parser=parser, name=name):
                result = thing.call(first_name="Zoe", **{name: nothing})
                assert result.is_error
                assert f"a form cannot hold {said}: leave out {name}" in result.envelope["error"]
        assert thing.call(sizes=[1]).data == {"sizes": [1]}
    whole = serve(Change.as_view(parser_classes=[parsers.JSONParser]))
    assert whole.call(sizes=[]).data == {"sizes": []}


def test_a_value_with_separators_of_a_form_adds_no_field(subtests, serve):
    for parser in [parsers.FormParser, parsers.MultiPartParser]:
        with subtests.test(parser=parser):
            name = "a&sizes=9"
            assert serve(with_parsers(parser)).call(first_name=name).data["first_name"] == name
            name = "--x\r\n\r\n"
            assert (
                serve(with_parsers(parser)).call(first_name=name).data["first_name"] == name.strip()
            )


def rename_keys(value: Any, pattern: str, replacement: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub(pattern, replacement, key): rename_keys(member, pattern, replacement)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [rename_keys(item, pattern, replacement) for item in value]
    return value


class CamelCaseParser(parsers.JSONParser):
    def parse(self, stream, media_type=None, parser_context=None):
        data = super().parse(stream, media_type, parser_context)
        return rename_keys(data, r"(?<=[a-z])([A-Z])", lambda m: f"_{m[1].lower()}")


class CamelCaseRenderer(JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        camel = rename_keys(dict(data), r"_([a-z])", lambda m: m[1].upper())
        return super().render(camel, accepted_media_type, renderer_context)


def test_a_parser_that_renames_keys_is_used(serve):
    thing = serve(with_parsers(CamelCaseParser))
    over_http = thing.http.post("/thing/", {"firstName": "Zoë"}, format="json")
    assert thing.call(first_name="Zoë").data == over_http.json()


def test_a_delete_may_have_a_body(serve):
    class Things(APIView):
        permission_classes = []

        def delete(self, request) -> Response:
            return Response({"deleted": request.data["ids"]})

    thing = serve(Things.as_view())
    over_http = thing.http.delete("/thing/", {"ids": [1, 2]}, format="json")
    assert thing.call(ids=[1, 2]).data == over_http.json() == {"deleted": [1, 2]}


def test_undeclared_query_parameters_are_sent_by_extra_query(serve):
    def answer(request) -> Response:
        return Response({key: request.query_params.getlist(key) for key in request.query_params})

    thing = serve(answering(answer), EXTRA_QUERY=True)
    result = thing.call(query={"expand": ["a", "b"], "depth": 2, "q": "x&y=ü", "none": None})
    assert result.data == {"expand": ["a", "b"], "depth": ["2"], "q": ["x&y=ü"]}
    assert result.data == thing.get(expand=["a", "b"], depth=2, q="x&y=ü").json()


@pytest.mark.parametrize(("wanted", "code"), [("json", None), ("shop", None), ("pdf", "NOT_FOUND")])
def test_the_format_query_parameter_selects_the_renderer(serve, wanted, code):

    view = answering(lambda request: Response({"a": 1}))
    view.cls.renderer_classes = [JSONRenderer, ShopJSON]
    thing = serve(view, EXTRA_QUERY=True)
    result, over_http = thing.call(query={"format": wanted}), thing.get(format=wanted)
    assert (result.data.get("error_code"), result.is_error) == (code, code is not None)
    if code is None:
        assert result.data == over_http.json()
    assert (over_http.status_code == 404) is result.is_error


class ShopJSON(JSONRenderer):
    media_type = "application/vnd.shop+json"
    format = "shop"

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render({"shop": data}, accepted_media_type, renderer_context)


def test_headers_are_read_as_over_http(serve):
    names = ("Authorization", "x_tenant", "CONTENT-TYPE", "Accept", "X-Missing")

    def answer(request) -> Response:
        headers = request._request.headers
        assert headers == HttpHeaders(request.META)
        assert len(headers) == len([*headers])
        found = {name: headers.get(name) for name in names}
        return Response({**found, "has": [name in headers for name in names]})

    thing = serve(answering(answer))
    thing.agent.http.defaults.update(HTTP_AUTHORIZATION="Basic YTpi", HTTP_X_TENANT="north")
    assert thing.call().data == {
        "Authorization": "Basic YTpi",
        "x_tenant": "north",
        "CONTENT-TYPE": "",
        "Accept": "application/json, */*;q=0.5",
        "X-Missing": None,
        "has": [True, True, True, True, False],
    }
