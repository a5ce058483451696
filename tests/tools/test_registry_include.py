"""A registry may hold a part of a project's tools, for an endpoint of its own."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.tools import Registry


@mcp_tool(tags=["billing"])
class Invoices(APIView):
    def get(self, request): ...


@mcp_tool()
class Letters(APIView):
    def get(self, request): ...


class Secrets(APIView):
    def get(self, request): ...


@pytest.fixture
def urlconf():
    module = type("URLConf", (), {})
    module.urlpatterns = [
        path("invoices/", Invoices.as_view()),
        path("letters/", Letters.as_view()),
        path("secrets/", Secrets.as_view()),
    ]
    return module


@pytest.mark.parametrize(
    ("include", "names"),
    [
        ([], ["invoices", "letters"]),
        (["tag:billing"], ["invoices"]),
        (["/letters/*"], ["letters"]),
        (["let*", "tag:billing"], ["invoices", "letters"]),
        (["tag:other"], []),
    ],
)
def test_a_registry_holds_what_it_includes(urlconf, include, names):
    assert list(Registry(include=include).tools(urlconf)) == names


def test_including_a_tool_does_not_expose_it(urlconf):
    assert list(Registry(include=["secrets"]).tools(urlconf)) == []


def test_a_registration_outside_is_left_out(urlconf):
    registry = Registry(include=["tag:billing"])
    registry.register(Secrets)
    assert list(registry.tools(urlconf)) == ["invoices"]
    registry.register(Secrets, tags=["billing"])
    assert list(registry.tools(urlconf)) == ["invoices", "secrets"]
