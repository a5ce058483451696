"""Wrong options of decorators, registrations and endpoints are errors at once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope
from drf_mcp.exposure import Registry, mcp_tool, mcp_viewset
from drf_mcp.option_types.installed import features
from drf_mcp.routes.options import KINDS, ToolOptions
from drf_mcp.views import MCPView
from tests.contrib import collect_wrong_values


class Word(APIView):
    """Return a word."""

    def get(self, request) -> Response: ...


WRONG_OPTIONS: list[tuple[str, Any]] = [
    ("name", 5),
    ("title", ["Refund"]),
    ("description", {"en": "Refund"}),
    ("read_only", "yes"),
    ("destructive", 1),
    ("tabular", "yes"),
    ("idempotent", "False"),
    ("open_world", 0),
    ("extra_query", "no"),
    ("query", {"expand": "string"}),
    ("body", {5: {}}),
    ("input_schema", "{}"),
    ("output_schema", "rows"),
    ("portable", "False"),
    ("many", 50),
    ("envelope_class", "drf_mcp.envelopes.OkEnvelope"),
    ("max_result_tokens", -1),
    ("max_result_tokens", 999),
    ("max_error_tokens", "2000"),
    ("max_result_tokens", True),
    ("condition", False),
    ("tags", "internal"),
    ("tags", None),
    ("examples", {"word": "yes"}),
    ("examples", ["yes"]),
    ("examples", [{"word": {1, 2}}]),
    ("examples", [{"word": float("nan")}]),
    ("keywords", "refund"),
    ("meta", ["team"]),
    ("meta", {"team": {1}}),
    ("untrusted", "note"),
    ("untrusted", [1]),
    ("throttle_scope", 1),
    ("time_limit", "5"),
    ("time_limit", -1),
    ("required_capabilities", ["elicitation"]),
    ("archive", "no"),
    ("hidden", ["tenant"]),
    ("omit", "password"),
    ("icons", {"src": "https://example.com/a.png"}),
    ("icons", [{"mimeType": "image/png"}]),
    ("icons", [{"src": "http://example.com/a.png"}]),
    ("icons", [{"src": "/static/a.png"}]),
    ("icons", [{"src": "javascript:alert(1)"}]),
    ("icons", [{"src": "data:text/html;base64,AAAA"}]),
    ("icons", [{"src": "https://example.com/a.png", "mimeType": "text/html"}]),
    ("icons", [{"src": "https://example.com/a.png", "sizes": "48x48"}]),
    ("icons", [{"src": "https://example.com/a.png", "sizes": ["big"]}]),
    ("icons", [{"src": "https://example.com/a.png", "theme": "grey"}]),
    ("icons", [{"src": "https://example.com/a.png", "size": ["48x48"]}]),
    *collect_wrong_values("WRONG_OPTIONS"),
]
WRONG_VIEW_OPTIONS: list[tuple[str, Any]] = [
    ("actions", "list"),
    ("actions", [list]),
    ("exclude", "destroy"),
    ("name", ["buyers"]),
]


def refused(name: str):
    return pytest.raises(ImproperlyConfigured, match=rf": {name} (must be|holds) ")


def test_a_wrong_option_of_mcp_tool_is_an_error():
    for name, value in WRONG_OPTIONS:
        with refused(name):
            mcp_tool(**{name: value})


def test_a_wrong_option_of_a_view_is_an_error():
    registry = Registry()
    for name, value in (*WRONG_VIEW_OPTIONS, *(w for w in WRONG_OPTIONS if w[0] != "name")):
        with refused(name):
            mcp_viewset(**{name: value})
        with refused(name):
            registry.register(Word, **{name: value})
    assert not registry.registrations


def test_every_option_has_a_kind_and_a_wrong_value_in_the_table():
    names = {field.name for field in dataclasses.fields(ToolOptions)} - {"features"}
    assert names == KINDS.keys()
    assert names | features.tool_options.keys() == {name for name, _ in WRONG_OPTIONS}


def test_right_options_are_accepted():
    for options in (
        {"title": gettext_lazy("Refund"), "tags": {"billing"}, "condition": lambda: True},
        {"output_schema": None, "max_result_tokens": 0, "envelope_class": OkEnvelope},
        {"output_schema": {"type": "object"}, "query": {"expand": {"type": "string"}}},
        {"examples": ({"word": "yes"},), "keywords": ["echo"]},
        {"meta": {"team": "sales", "com.example.mcp/Team-1": [None]}},
        {"icons": [{"src": "data:image/svg+xml;base64,PHN2Zy8+", "sizes": ["any"]}]},
        {"icons": ({"src": "https://a.example/b.png", "sizes": ["48x48"], "theme": "dark"},)},
        {"resource": True},
        {"resource": {"title": "A page", "annotations": {"audience": ["user"], "priority": 0.5}}},
    ):
        mcp_tool(**options)
        mcp_viewset(actions=("list",), exclude=frozenset({"destroy"}), **options)


@pytest.mark.parametrize(
    "options",
    [{"name": "a"}, {"many": True}, {"condition": lambda: True}, {"aggregate": ["price"]}],
)
def test_an_endpoint_cannot_change_which_tools_there_are(options):
    """All endpoints share the tools of the URLconf."""
    (name,) = options
    with pytest.raises(ImproperlyConfigured, match=rf"{name} .* @mcp_viewset\({name}=\.\.\.\)"):
        MCPView.as_view(tool_options=options)


WRONG_ATTRIBUTES: list[tuple[str, Any]] = [
    ("registry", None),
    ("envelope_class", "drf_mcp.envelopes.OkEnvelope"),
    ("envelope_class", OkEnvelope()),
    ("authentication_classes", [AllowAny]),
    ("permission_classes", IsAuthenticated),
    ("permission_classes", [IsAuthenticated()]),
    ("permission_classes", ["rest_framework.permissions.IsAuthenticated"]),
    ("browsable_page", "no"),
]


def test_a_wrong_attribute_of_an_endpoint_is_an_error():
    for name, value in WRONG_ATTRIBUTES:
        with refused(name):
            MCPView.as_view(**{name: value})
        with refused(name):
            type("Own", (MCPView,), {name: value}).as_view()
