"""The "ok" contract: its envelope and model, versions, and soft failures."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.urls import path
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, NotFound
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context
from drf_mcp.envelopes import OkEnvelope, OkError, OkMeta, OkResponse, success_response
from drf_mcp.exceptions import SoftFailure
from drf_mcp.outcomes import Category, Failure, Outcome, Pagination
from drf_mcp.renderers import EnvelopeJSONRenderer
from tests.envelopes.conftest import drop_volatile, reread
from tests.envelopes.samples import RICH, SOFT_WITH_DATA, TABLE, parsed
from tests.parity.answers import over_http

CONFLICT = Failure("CONFLICT", Category.CONFLICT, "Not now.", "", soft=True)

# --- The envelope and its model ------------------------------------------------------------


def test_a_client_can_compute_the_hash_from_the_data():
    """It is the hash of the canonical data."""
    plain = {"b": "ü", "a": [1, None]}
    for outcome in (
        RICH,
        SOFT_WITH_DATA,
        Outcome("t", 200, {2: "b", "1": "a"}),
        Outcome("t", 200, [], CONFLICT),
        Outcome("t", 200, plain),
    ):
        answer = parsed(OkEnvelope(), outcome)
        text = json.dumps(answer["data"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert answer["meta"]["content_hash"] == f"sha256-{digest}"
    assert text == '{"a":[1,null],"b":"ü"}'


def test_other_members_of_a_page_are_kept():
    data = {"count": 1, "results": [1], "facets": {}}
    answer = parsed(OkEnvelope(), Outcome("t", 200, data, pagination=Pagination(False)))
    assert answer["data"] == {"results": [1], "facets": {}}


def test_the_model_reads_and_writes_what_is_rendered():
    """It refuses errors on success, and a failure without errors."""
    for outcome, _schema in TABLE.values():
        answer = parsed(OkEnvelope(), outcome)
        assert OkResponse.model_validate(answer).model_dump(exclude_unset=True) == answer
    error = {"code": "a", "message": "b"}
    for wrong in ({"ok": True, "errors": [error], "meta": {}}, {"ok": False, "meta": {}}):
        with pytest.raises(ValueError, match="errors are given on failure"):
            OkResponse.model_validate(wrong)


def test_all_of_the_meta_of_a_views_envelope_is_kept():
    given = {
        "version": "ai@2026-04-16-beta",
        "content_hash": "sha256-" + "0a" * 32,
        "next_cursor": "c2",
        "request_id": "req_own",
        "warnings": ["Old."],
        "pagination": {"total_count": 9, "window": [1, 2]},
        "rate_limit": {"limit": 5, "burst": 2},
        "dropped_content_ids": ["x"],
        "source": "cache",
    }
    meta = reread(OkResponse(ok=True, data=1, meta=OkMeta(**given)), "ok")["meta"]
    paged = {"total_count": 9, "window": [1, 2], "has_more": True}
    assert {name: meta[name] for name in given} == {**given, "pagination": paged}


def test_the_data_of_a_views_envelope_keep_the_members_of_a_page():
    data = {"count": 1, "results": [1]}
    assert (
        reread(OkResponse(ok=True, data=data, meta=OkMeta(next_cursor=None)), "ok")["data"] == data
    )
    assert reread(success_response(data, pagination={"has_more": False}))["data"] == data


def test_the_type_of_an_error_in_a_views_envelope_follows_its_code_or_status():
    expected = {
        ("element_not_found", 200): "not_found",
        ("conflict", 200): "conflict",
        ("loose", 409): "conflict",
        ("loose", 200): "validation",
    }
    found = {}
    for code, status in expected:
        errors = [OkError(code=code, message="No.")]
        body = OkResponse(ok=False, errors=errors, meta=OkMeta())
        found[code, status] = reread(body, status=status)["data"]["error_type"]
    assert found == expected


# --- The version of the data ---------------------------------------------------------------

VERSION, HASH = "ai@2026-04-16-beta", "sha256-" + "0a" * 32
SAID = {"version": VERSION, "content_hash": HASH}


def noted(request) -> Response:
    """Set the version in the notes of the call."""
    call_context(request).version(VERSION, content_hash=HASH)
    return Response({"a": 1})


def own(**meta: Any) -> OkResponse:
    return OkResponse(ok=True, data=1, meta=OkMeta(**meta))


def source(envelope: dict[str, Any]) -> dict[str, Any]:
    meta = envelope["meta"]
    return {name: meta[name] for name in ("version", "content_hash") if name in meta}


def test_the_version_is_that_of_the_views_envelope_or_of_the_notes(thing):
    assert source(thing.answer_with(noted).read("ok")) == SAID
    assert source(thing.answer_with(own(**SAID)).read("ok")) == SAID

    def both(request) -> Response:
        noted(request)
        return Response(own(version="ai@own"))

    assert source(thing.answer_with(both).read("ok")) == {"version": "ai@own"}


def test_a_version_may_be_an_attribute_of_the_view(serve):
    """A version in the notes takes precedence, and drops the hash of the attribute."""

    class ByAttribute(APIView):
        permission_classes = []
        mcp_version = VERSION
        mcp_content_hash = HASH

        def get(self, request) -> Response:
            return served.act(request)

    def latest(request) -> Response:
        call_context(request).version("ai@next")
        return Response({})

    def crash(request) -> Response:
        raise ZeroDivisionError

    served = serve(ByAttribute.as_view())
    hashed = {"version": VERSION, "content_hash": "sha256-1"}
    for answer, expected in (
        (lambda request: Response({"a": 1}), SAID),
        (latest, {"version": "ai@next"}),
        (lambda request: Response(own(content_hash="sha256-1")), hashed),
        # A failure has the version too.
        (crash, {"version": VERSION}),
    ):
        assert source(served.answer_with(answer).read("ok")) == expected
    assert source(served.read("ok", nonsense=1)) == {"version": VERSION}


def test_other_envelopes_have_the_version_under_another_name(thing):
    """Plain has it in `_meta`, with the request id."""
    thing.answer_with(noted)
    metas = [
        thing.read("response_v2")["meta"],
        thing.read("status")["metadata"],
        thing.call("plain").raw["_meta"],
    ]
    for meta in metas:
        assert (meta["content_version"], meta["content_hash"]) == (VERSION, HASH)


# --- The contract's own tools, as tools and over REST --------------------------------------

# Two versions of a schema, each with the members that a datachain may and must have.
SCHEMAS: dict[str, Any] = {
    "ai@2026-04-16-beta": {"required": ["purpose"], "elements": ["accept", "cloud"]},
    "ai@2025-11-01": {"required": [], "elements": ["accept"]},
}
LATEST = "ai@2026-04-16-beta"


def hash_of(version: str) -> str:
    canonical = json.dumps(SCHEMAS[version], sort_keys=True, separators=(",", ":"))
    return "sha256-" + hashlib.sha256(canonical.encode()).hexdigest()


class OkRenderer(EnvelopeJSONRenderer):
    envelope_class = OkEnvelope


class Element(serializers.Serializer):
    element_id = serializers.CharField()
    category_id = serializers.CharField(required=False)


class Datachain(serializers.Serializer):
    elements = Element(many=True)
    version = serializers.CharField(default="latest")


class Versioned(APIView):
    permission_classes = []
    renderer_classes = [OkRenderer]
    serializer_class = Datachain

    def arguments(self, request) -> dict[str, Any]:
        """Check the arguments, and set the version of the schema that they were checked with."""
        serializer = self.serializer_class(data=request.data)
        serializer.is_valid(raise_exception=True)
        asked = serializer.validated_data["version"]
        version = LATEST if asked == "latest" else asked
        if version not in SCHEMAS:
            raise NotFound(f"Version '{version}' not found.", "unknown_version")
        call_context(request).version(version, content_hash=hash_of(version))
        self.version, self.rules = version, SCHEMAS[version]
        return serializer.validated_data


class ValidateDatachain(Versioned):
    """Return whether a datachain is valid."""

    def post(self, request) -> Response:
        elements = self.arguments(request)["elements"]
        found = {element.get("category_id") for element in elements}
        for category in self.rules["required"]:
            if category not in found:
                message = f"Category '{category}' requires at least one element."
                raise SoftFailure(
                    {"elements": ErrorDetail(message, "element_required")},
                    remediation=f"Add an element with category_id='{category}'.",
                )
        return Response({"valid": True, "elements": len(elements)})


class ReadElements(Versioned):
    """Read elements, all of which must exist."""

    def post(self, request) -> Response:
        for place, element in enumerate(self.arguments(request)["elements"]):
            name = element["element_id"]
            if name not in self.rules["elements"]:
                raise NotFound(
                    {
                        "elements": {
                            place: {
                                "element_id": ErrorDetail(
                                    f"Element '{name}' not found in {self.version}.",
                                    "element_not_found",
                                )
                            }
                        }
                    }
                )
        return Response({})


@pytest.fixture
def served(serve):
    return serve(
        path("validate_datachain/", ValidateDatachain.as_view()),
        path("read_elements/", ReadElements.as_view()),
    )


@pytest.fixture
def call(served):
    """Call a tool, and compare its answer with that over REST."""

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        answer = drop_volatile(served.agent("ok").call(name, **arguments).envelope)
        assert (
            drop_volatile(served.http.post(f"/{name}/", arguments, format="json").json()) == answer
        )
        return answer

    return call


INVALID = {
    "ok": False,
    "errors": [
        {
            "code": "element_required",
            "message": "Category 'purpose' requires at least one element.",
            "path": "elements",
            "fix_hint": "Add an element with category_id='purpose'.",
        }
    ],
    "meta": {"content_hash": hash_of(LATEST), "version": LATEST, "warnings": []},
}


def test_the_example_of_a_soft_failure(served, call):
    """It is no error, and is the same over REST."""
    assert call("validate_datachain", elements=[{"element_id": "accept"}]) == INVALID
    raw = served.agent("ok").call("validate_datachain", elements=[]).raw
    assert "isError" not in raw
    (block,) = raw["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == raw["structuredContent"]
    assert drop_volatile(raw["structuredContent"]) == INVALID


def test_the_example_of_a_success(call):
    envelope = call(
        "validate_datachain", elements=[{"element_id": "accept", "category_id": "purpose"}]
    )
    assert envelope == {
        "ok": True,
        "data": {"valid": True, "elements": 1},
        "meta": {"content_hash": hash_of(LATEST), "version": LATEST},
    }


def test_the_hash_is_the_same_for_every_read_of_a_version(call):
    """The answer does not change it; another version has another hash."""
    old = "ai@2025-11-01"
    reads = [call("validate_datachain", elements=[], version=name) for name in ("latest", old)]
    reads += [call("read_elements", elements=[], version=name) for name in ("latest", old)]
    assert [(read["meta"]["version"], read["meta"]["content_hash"]) for read in reads] == [
        (LATEST, hash_of(LATEST)),
        (old, hash_of(old)),
    ] * 2


def test_the_example_of_an_error(call):
    envelope = call("read_elements", elements=[{"element_id": "missing_element"}])
    (error,) = envelope["errors"]
    assert error.pop("fix_hint")
    assert envelope == {
        "ok": False,
        "errors": [
            {
                "code": "element_not_found",
                "message": "Element 'missing_element' not found in ai@2026-04-16-beta.",
                "path": "elements[0].element_id",
            }
        ],
        "meta": {"version": LATEST, "content_hash": hash_of(LATEST)},
    }


def test_an_unknown_version_is_an_error_without_a_version(served):
    result = served.agent("ok").call("read_elements", elements=[], version="ai@1999")
    assert result.is_error
    envelope = drop_volatile(result.envelope)
    assert envelope["errors"][0]["code"] == "unknown_version"
    assert envelope["meta"] == {}


@pytest.fixture
def lookup(settings, alice):
    settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": "drf_mcp.envelopes.OkEnvelope"}
    return lambda *slugs: alice.call("products_lookup", slugs=list(slugs))


def test_partial_hits_come_with_nulls_for_the_misses(lookup, http_of):
    """The answer over REST is the same; hits alone are a success."""
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
    slugs = {"slugs": ["bread-knife", "no-such"]}
    response = over_http(http_of("alice"), "POST", "/api/products/lookup/", slugs)
    assert response.status_code == 200
    assert response.json()["data"]["products"] == envelope["data"]["products"][:2]
    hits = lookup("bread-knife", "night-train").envelope
    assert hits["ok"] is True
    assert None not in hits["data"]["products"]
