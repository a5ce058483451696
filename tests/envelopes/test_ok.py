"""The examples and rules of the "ok" contract, through views and tools."""

from __future__ import annotations

import hashlib

import pytest
from rest_framework.response import Response

from tests.dispatch.views import answering
from tests.parity.answers import over_http


def test_the_content_hash_is_that_of_the_canonical_data(serve):
    envelope = serve(answering(lambda request: Response({"b": "ü", "a": [1, None]}))).read("ok")
    canonical = '{"a":[1,null],"b":"ü"}'.encode()
    expected = "sha256-" + hashlib.sha256(canonical).hexdigest()
    assert envelope["meta"]["content_hash"] == expected


@pytest.fixture
def lookup(settings, alice):
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
