"""The examples and rules of the "ok" contract, through views and tools."""

from __future__ import annotations

import hashlib
import json

import pytest
from rest_framework.exceptions import ErrorDetail, NotFound
from rest_framework.generics import ListAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response

from drf_mcp import call_context
from drf_mcp.exceptions import SoftFailure
from example_project.shop.models import Product
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering, raising
from tests.parity.answers import over_http


def test_a_success_has_ok_data_and_meta(serve):
    envelope = serve(answering(lambda request: Response({"a": 1}))).read("ok")
    assert set(envelope) == {"ok", "data", "meta"}
    assert envelope["ok"] is True
    assert envelope["data"] == {"a": 1}
    assert set(envelope["meta"]) == {"content_hash", "request_id", "telemetry"}
    assert "next_cursor" not in envelope["meta"]


def test_the_content_hash_is_that_of_the_canonical_data(serve):
    envelope = serve(answering(lambda request: Response({"b": "ü", "a": [1, None]}))).read("ok")
    canonical = '{"a":[1,null],"b":"ü"}'.encode()
    expected = "sha256-" + hashlib.sha256(canonical).hexdigest()
    assert envelope["meta"]["content_hash"] == expected


class Two(PageNumberPagination):
    page_size = 30


class Products(ListAPIView):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []
    pagination_class = Two


def test_the_cursor_of_a_list_is_a_string_and_null_on_the_last_page(serve):
    products = serve(Products.as_view())
    first, last = products.read("ok"), products.read("ok", page=2)
    assert first["meta"]["next_cursor"] == "2"
    assert last["meta"]["next_cursor"] is None
    assert len(first["data"]) == 30


def test_an_error_has_errors_and_meta(serve):
    missing = NotFound(
        "Element 'missing_element' not found in ai@2026-04-16-beta.", "element_not_found"
    )
    result = serve(raising(missing)).call("ok")
    envelope = result.envelope
    assert result.is_error
    assert set(envelope) == {"ok", "errors", "meta"}
    assert envelope["ok"] is False
    assert envelope["errors"] == [
        {
            "code": "element_not_found",
            "message": "Element 'missing_element' not found in ai@2026-04-16-beta.",
            "fix_hint": "Look up which identifiers exist, then call again with one of them.",
        }
    ]
    assert set(envelope["meta"]) == {"request_id", "telemetry"}


def test_both_channels_carry_the_same_payload(serve):
    raw = serve(answering(lambda request: Response({"a": 1}))).call("ok").raw
    assert list(raw["content"][0]) == ["type", "text"]
    assert json.loads(raw["content"][0]["text"]) == raw["structuredContent"]
    assert " " not in raw["content"][0]["text"].replace("sha256", "")


def element_required() -> SoftFailure:
    """Return the soft failure that the contract shows."""
    message = "Category 'purpose' requires at least one element."
    return SoftFailure(
        {"elements": ErrorDetail(message, "element_required")},
        remediation="Add an element with category_id='purpose'.",
    )


def test_the_example_of_a_soft_failure(serve):
    def validate(request) -> Response:
        raise element_required()

    validate = answering(validate, "POST")
    validate.cls.serializer_class = Elements
    result = serve(validate).call("ok", elements=[])
    assert "isError" not in result.raw
    envelope = result.envelope
    assert envelope["ok"] is False
    assert envelope["errors"] == [
        {
            "code": "element_required",
            "message": "Category 'purpose' requires at least one element.",
            "path": "elements",
            "fix_hint": "Add an element with category_id='purpose'.",
        }
    ]
    assert envelope["meta"]["warnings"] == []
    assert envelope["meta"]["content_hash"].startswith("sha256-")
    assert "data" not in envelope


class Elements(ProductSerializer):
    """Anything with ``elements``."""

    elements = ProductSerializer(many=True)

    class Meta(ProductSerializer.Meta):
        fields = ["elements"]


def test_warnings_are_short_strings(serve):
    def warned(request) -> Response:
        call_context(request).warn("Prices are from yesterday.", code="STALE_CACHE")
        return Response({})

    assert serve(answering(warned)).read("ok")["meta"]["warnings"] == ["Prices are from yesterday."]


@pytest.fixture
def lookup(settings, alice):
    """Call the shop's lookup in the "ok" envelope."""
    settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": "drf_mcp.envelopes.OkEnvelope"}
    return lambda *slugs: alice.call("products_lookup", slugs=list(slugs))


def test_partial_hits_come_with_nulls_for_the_misses(lookup):
    result = lookup("bread-knife", "no-such", "night-train", "neither")
    assert "isError" not in result.raw
    envelope = result.envelope
    assert envelope["ok"] is False
    found = [product and product["slug"] for product in envelope["data"]["products"]]
    assert found == ["bread-knife", None, "night-train", None]
    assert envelope["errors"] == [
        {
            "code": "product_not_found",
            "message": f"Product '{slug}' not found.",
            "path": f"slugs[{place}]",
            "fix_hint": "Use products_list to find the slugs of existing products.",
        }
        for place, slug in ((1, "no-such"), (3, "neither"))
    ]


def test_hits_alone_are_a_success(lookup):
    envelope = lookup("bread-knife", "night-train").envelope
    assert envelope["ok"] is True
    assert None not in envelope["data"]["products"]


def test_rest_consumers_see_the_same_lookup(lookup, http_of):
    response = over_http(
        http_of("alice"), "POST", "/api/products/lookup/", {"slugs": ["bread-knife", "no-such"]}
    )
    assert response.status_code == 200
    assert response.json()["data"] == lookup("bread-knife", "no-such").envelope["data"]
