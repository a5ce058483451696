"""JSON answers: the data of a result equals the body over HTTP."""

from __future__ import annotations

import datetime
import re
import uuid
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from example_project.shop.models import Customer, Product
from tests.dispatch.views import answering

ROME = ZoneInfo("Europe/Rome")


class ProductSerializer(serializers.ModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "slug", "price", "released"]


class Shelf(serializers.Serializer):
    products = ProductSerializer(many=True)
    best = ProductSerializer()


def shelf() -> Any:
    products = Product.objects.order_by("pk")[:3]
    return Shelf({"products": products, "best": products[0]}).data


DATA = {
    "object": {"a": 1, "b": [True, None, "x", 1.5]},
    "empty object": {},
    "nested": {"a": {"b": {"c": [[], {}, [{}]]}}},
    "lazy text": {"a": gettext_lazy("Yes"), "b": [gettext_lazy("No")]},
    "decimal": {"a": Decimal("10.50"), "b": Decimal("1E+2"), "c": Decimal("0.1") ** 20},
    "date-time": {"a": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=ROME)},
    "UTC": {"a": datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC)},
    "naive": {"a": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901)},
    "date": {"a": datetime.date(2026, 1, 2), "b": datetime.time(3, 4, 5, 6)},
    "duration": {"a": datetime.timedelta(days=1, microseconds=5)},
    "uuid": {"a": uuid.UUID(int=7)},
    "bytes": {"a": b"plain"},
    "set": {"a": {7}, "b": frozenset({"x"})},
    "tuple": {"a": (1, 2)},
    "huge integer": {"a": 10**30, "b": -(2**63)},
    "float": {"a": 0.1 + 0.2, "b": 1e300, "c": -0.0},
    "characters": {"é": '🎩\u2028\u0000"\\/</script>', "": "\x7f"},
    "keys of other types": {7: "a", True: "b", None: "c", 1.5: "d"},
    "urls": {"next": "http://testserver/x/", "count": 3, "results": "x"},
}


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_an_object_is_the_same_over_http_and_as_a_tool(serve, data):
    thing = serve(answering(lambda request: Response(data)))
    over_http, result = thing.get(), thing.call()
    assert over_http.status_code == 200
    assert result.data == over_http.json()
    assert result.envelope["success"] is True
    assert "isError" not in result.raw


@pytest.mark.parametrize("data", [[], [1, "x", None], [{"a": Decimal("1.0")}], (1, 2)])
def test_a_list_is_under_results(serve, data):
    thing = serve(answering(lambda request: Response(data)))
    assert thing.call().data == {"results": thing.get().json()}


@pytest.mark.parametrize(
    "answer",
    [
        lambda r: Response(),
        lambda r: Response(None),
        lambda r: Response(status=204),
        lambda r: Response(status=201),
        lambda r: HttpResponse(),
        lambda r: HttpResponse(status=204),
        lambda r: HttpResponse(b"", content_type="application/json"),
        lambda r: JsonResponse(None, safe=False),
    ],
)
def test_an_answer_without_a_body_has_empty_data(serve, answer):
    thing = serve(answering(answer))
    result = thing.call()
    assert thing.get().status_code in (200, 201, 204)
    assert (result.data, result.is_error) == ({}, False)


@pytest.mark.parametrize("status", [201, 202, 303])
@pytest.mark.parametrize("answer", [HttpResponse, Response])
def test_a_location_without_a_body_is_the_data(serve, answer, status):
    headers = {"Location": "/elsewhere/"}
    thing = serve(answering(lambda request: answer(status=status, headers=headers)))
    assert (thing.get().status_code, thing.get()["Location"]) == (status, "/elsewhere/")
    assert thing.call().data == {"location": "/elsewhere/"}


@pytest.mark.parametrize(
    "query",
    [
        lambda: Customer.objects.order_by("pk").values("id", "name", "joined")[:3],
        lambda: Customer.objects.order_by("pk").values_list("id", "email")[:3],
        lambda: Customer.objects.order_by("pk").values_list("id", flat=True)[:3],
    ],
)
def test_rows_of_values_are_the_same_over_http_and_as_a_tool(serve, query):
    thing = serve(answering(lambda request: Response(query())))
    assert thing.call().data == {"results": thing.get().json()}
    assert len(thing.call().data["results"]) == 3


@pytest.mark.parametrize(
    "answer",
    [
        lambda r: HttpResponse('{"a": NaN}', content_type="application/json"),
        lambda r: Response({"a": float("nan")}),
    ],
)
def test_nan_is_an_internal_error_even_without_strict_json(serve, settings, answer):
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "STRICT_JSON": False}
    result = serve(answering(answer)).call()
    assert (result.is_error, result.code) == (True, "INTERNAL_ERROR")
    assert result.envelope["meta"]["request_id"] in result.envelope["error"]


def camelize_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub(r"_(\w)", lambda match: match[1].upper(), key): camelize_keys(member)
            for key, member in value.items()
        }
    return [camelize_keys(item) for item in value] if isinstance(value, list) else value


class CamelCaseRenderer(JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render(camelize_keys(data), accepted_media_type, renderer_context)


class AsciiRenderer(JSONRenderer):
    ensure_ascii = True
    compact = False


class Cents(JSONEncoder):
    def default(self, obj):
        return int(obj * 100) if isinstance(obj, Decimal) else super().default(obj)


class CentsRenderer(JSONRenderer):
    encoder_class = Cents


class VendorRenderer(JSONRenderer):
    media_type = "application/vnd.shop+json"
    format = "shop"


class WrappingRenderer(JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render({"payload": data}, accepted_media_type, renderer_context)


@pytest.mark.parametrize(
    "renderer", [CamelCaseRenderer, AsciiRenderer, CentsRenderer, VendorRenderer, WrappingRenderer]
)
def test_the_data_is_what_the_views_json_renderer_wrote(serve, renderer):
    data = {"unit_price": Decimal("10.50"), "in_stock": [{"shelf_no": "é"}]}
    view = answering(lambda request: Response(data))
    view.cls.renderer_classes = [renderer]
    thing = serve(view)
    assert thing.call().data == thing.get().json()


@pytest.mark.parametrize(
    "options",
    [{"UNICODE_JSON": False}, {"COMPACT_JSON": False}, {"COERCE_DECIMAL_TO_STRING": False}],
)
def test_the_json_settings_of_rest_framework_apply(serve, settings, options):
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, **options}
    thing = serve(answering(lambda request: Response({"a": "é", **shelf()})))
    assert thing.call().data == thing.get().json()
