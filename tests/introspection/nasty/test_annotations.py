"""Annotations for drf-spectacular are used in the descriptions of tools."""

from __future__ import annotations

import pytest
from django.urls import path
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.response import Response

from drf_mcp.exposure import registry
from tests.introspection.inspected import bare
from tests.introspection.nasty.views import Plain


@pytest.fixture
def tool(nasty):
    def find(route):
        tools = registry.tools().values()
        return next(tool for tool in tools if tool.endpoint.route.path == route)

    return find


@pytest.fixture
def properties(tool):
    return lambda route: bare(tool(route).input_schema["properties"])


def test_extend_schema_field_gives_the_schema_of_a_field(properties):
    assert properties("/painted/")["hue"] == {"type": "string", "enum": ["red", "blue"]}


def test_a_field_extension_gives_the_schema_of_a_field(properties):
    """An exclusive bound of a number is only in the description."""
    amount, currency = {"type": "number"}, {"type": "string"}
    members = {"amount": amount, "currency": currency}
    expected = {"type": "object", "properties": members, "required": ["amount"]}
    assert properties("/painted/")["price"] == expected


def test_an_extension_that_contains_itself_is_cut(properties):
    tree = properties("/painted/")["tree"]
    assert tree["required"] == ["name"]
    assert tree["properties"] == {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"type": "object"}},
    }


def test_the_description_is_used_and_says_deprecated(tool):
    assert tool("/lines/").description == "Deprecated. Put lines."


def test_a_summary_is_the_title(tool):
    assert tool("/pets/").title == "Adopt a pet"


def test_a_body_of_one_of_several_schemas_is_open_and_names_their_members(tool):
    for pets in (tool("/pets/"), tool("/kept/")):
        words = pets.input_schema["properties"]["body"]["description"]
        assert "an object with kind, lives or an object with kind, tricks" in words
        (finding,) = pets.schema.findings
        assert finding.message == "The body is declared as one of several schemas."
        assert "@mcp_tool(body={...})" in finding.remedy


def test_a_request_may_be_a_schema_and_the_json_one_is_used(tool):
    schema = tool("/loose/").input_schema
    assert schema["required"] == ["n"]
    assert schema["properties"]["n"] == {"type": "integer", "description": "May be null."}


def test_parameters_are_arguments_and_headers_are_not(properties, tool):
    described = properties("/asked/")
    assert described.pop("fields")["items"] == {"type": "string"}
    assert described == {
        "depth": {"type": "integer"},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "since": {"type": "string"},
        "street": {"type": "string", "minLength": 1},
        "country": {"type": "string", "enum": ["DE", "FR"], "minLength": 1, "default": "DE"},
    }
    assert tool("/asked/").input_schema["required"] == ["since", "street"]


def test_annotations_that_raise_are_findings(tool):
    broken = tool("/broken-annotations/")
    assert set(broken.input_schema["properties"]) == {"body"}
    messages = " ".join(finding.message for finding in broken.findings)
    assert "no request" in messages
    assert "no parameters" in messages
    assert broken.description


def test_two_serializers_with_the_same_name_keep_their_fields(expose):
    def carrying(kind):
        component = type("Same", (s.Serializer,), {"value": kind()})
        proxied = spectacular_polymorphic(component)

        class View(Plain):
            @extend_schema(request=proxied)
            def post(self, request):
                return Response({})

        return View.as_view()

    expose(path("a/", carrying(s.CharField)), path("b/", carrying(s.IntegerField)))
    kinds = [t.input_schema["properties"]["value"]["type"] for t in registry.tools().values()]
    assert kinds == ["string", "integer"]


def spectacular_polymorphic(component):
    """Return a request that only drf-spectacular can describe."""
    from drf_spectacular.utils import PolymorphicProxySerializer

    return PolymorphicProxySerializer("Proxy", [component], resource_type_field_name=None)


@pytest.mark.slow
def test_describing_changes_no_setting_and_prints_no_warning(nasty, capsys):
    before = dict(vars(spectacular_settings))
    for tool in registry.tools().values():
        tool.input_schema, tool.description  # noqa: B018
    assert {name: vars(spectacular_settings)[name] for name in before} == before
    assert capsys.readouterr().err == ""
