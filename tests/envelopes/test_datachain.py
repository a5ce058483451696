"""The "ok" contract's own tools: versions, soft failures and errors, as tools and over REST."""

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
from drf_mcp.envelopes import OkEnvelope
from drf_mcp.exceptions import SoftFailure
from drf_mcp.renderers import EnvelopeJSONRenderer
from tests.envelopes.conftest import told

# Two versions of a schema: what may and must stand in a datachain.
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
        """Check the arguments and say which version they are held against."""
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
    """Tell whether a datachain is valid."""

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


@pytest.fixture(params=["tool", "rest"])
def call(request, served):
    def as_tool(name: str, **arguments: Any) -> dict[str, Any]:
        return told(served.agent("ok").call(name, **arguments).envelope)

    def over_rest(name: str, **arguments: Any) -> dict[str, Any]:
        return told(served.http.post(f"/{name}/", arguments, format="json").json())

    return as_tool if request.param == "tool" else over_rest


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


def test_the_example_of_a_soft_failure(call):
    assert call("validate_datachain", elements=[{"element_id": "accept"}]) == INVALID


def test_a_soft_failure_is_no_error_and_the_same_in_both_channels(served):
    raw = served.agent("ok").call("validate_datachain", elements=[]).raw
    assert "isError" not in raw
    (block,) = raw["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == raw["structuredContent"]
    assert told(raw["structuredContent"]) == INVALID


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
    """Whatever was answered; another version has another hash."""
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


def test_an_unknown_version_is_a_hard_failure_that_names_none(served):
    result = served.agent("ok").call("read_elements", elements=[], version="ai@1999")
    assert result.is_error
    envelope = told(result.envelope)
    assert envelope["errors"][0]["code"] == "unknown_version"
    assert envelope["meta"] == {}
