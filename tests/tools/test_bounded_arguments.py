"""Lists that a caller makes long, and names that a caller makes deep."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.urls import include, path
from rest_framework import filters, serializers, viewsets
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter

from drf_mcp import mcp_viewset
from example_project.shop.models import Product

pytestmark = pytest.mark.django_db
MANY = 8_000


class LineSerializer(serializers.Serializer):
    quantity = serializers.IntegerField()


class ProductSerializer(serializers.ModelSerializer):
    lines = LineSerializer(many=True, write_only=True, required=False)

    class Meta:
        model = Product
        fields = ["id", "name", "lines"]


@mcp_viewset(many=True)
class Products(viewsets.ModelViewSet):
    queryset = Product.objects.order_by("id")
    serializer_class = ProductSerializer
    filter_backends = [filters.OrderingFilter]
    ordering_fields = ["id", "name"]


class Loose(viewsets.ViewSet):
    def list(self, request: Any) -> Response:
        return Response([{"id": 1, "name": "Lamp"}])


@pytest.fixture(autouse=True)
def served(expose):
    router = DefaultRouter()
    router.register("products", Products, basename="products")
    router.register("loose", Loose, basename="loose")
    expose(path("api/", include(router.urls)))


def measure(agent: Any, tool: str, arguments: dict[str, Any]) -> float:
    started = time.process_time()
    agent.call(tool, **arguments)
    return time.process_time() - started


def test_names_beyond_the_bound_are_refused_with_its_sentence(alice, settings, subtests):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_FIELDS": 2}
    for names in (["name"] * 3, "id,name,id", ["id,name", "id"]):
        with subtests.test(names=names):
            result = alice.call("products_list", fields=names)
            assert result.envelope["error"] == "fields: 'fields' takes at most 2 names."
    assert not alice.call("products_list", fields=["id", "name"]).is_error


@pytest.mark.parametrize("tool", ["products_list", "loose_list"])
def test_a_path_of_600_levels_is_refused(alice, tool):
    result = alice.call(tool, fields=["id", ".".join("a" * 600)])
    assert result.envelope["error"] == "fields[1]: A name in 'fields' has at most 20 levels."


def test_ids_beyond_the_bound_are_refused_with_its_sentence(alice, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_IDS": 2}
    assert not alice.call("products_retrieve", ids=[1, 2]).is_error
    result = alice.call("products_retrieve", ids=[1, 2, 3])
    assert result.envelope["error"] == "ids: 'ids' takes at most 2 ids."


def test_arguments_nested_beyond_the_bound_are_refused_with_its_sentence(alice):
    deep = json.loads("[" * 100 + "]" * 100)
    call = {"name": "products_list", "arguments": {"page": deep}}
    answer = alice.post(*alice.frame("tools/call", call)).json()
    assert answer["error"]["message"] == "The body is nested deeper than 100 levels."
