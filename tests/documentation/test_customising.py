"""The classes on the pages about customising work as the pages say."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import include, path
from rest_framework import generics, serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import registry
from example_project.shop.models import Product
from tests.agents import Agent
from tests.documentation.pages import DOCS, blocks


@pytest.fixture
def shown():
    def load(file: str) -> dict[str, Any]:
        pages = ("customising.md", "server.md")
        text = "".join(b.text for page in pages for b in blocks(DOCS / page) if b.file == file)
        names: dict[str, Any] = {"__name__": file.removesuffix(".py").replace("/", ".")}
        exec(compile(text, file, "exec"), names)
        return names

    return load


@pytest.fixture
def configure(settings):
    def change(**given: Any) -> None:
        settings.DRF_MCP = {**settings.DRF_MCP, **given}

    return change


def test_a_tenant_has_the_tools_of_its_modules(shown, configure, carol):
    names = shown("tenants/exposure.py")
    configure(EXPOSURE_CLASS=names["TenantExposure"])
    assert "products_list" not in carol.tools()
    token = names["current_modules"].set(frozenset({"stock"}))
    try:
        assert "products_list" in carol.tools()
    finally:
        names["current_modules"].reset(token)


def test_a_capability_hides_tools_from_some_callers(shown, settings, alice, carol):
    view = shown("staffing/server.py")["CarefulView"]
    module = type("URLConf", (), {})
    module.urlpatterns = [path("mcp", view.as_view()), path("", include("example_project.urls"))]
    settings.ROOT_URLCONF = module
    registry.reload()
    deleting = {name for name, tool in registry.tools().items() if tool.endpoint.method == "DELETE"}
    assert deleting & carol.tools().keys()
    assert not deleting & alice.tools().keys()


def test_an_error_mapper_maps_the_exceptions_of_a_library(shown, expose, db):
    names = shown("parcels/errors.py")

    class Parcels(APIView):
        permission_classes = ()

        def get(self, request):
            raise names["CarrierBusy"]

    expose(path("parcels/", Parcels.as_view()), ERROR_MAPPER_CLASS=names["ParcelErrorMapper"])
    # Django's test client raises the exceptions that error trackers would get.
    error = Agent(Client(raise_request_exception=False)).call("parcels").data
    assert error["error_code"] == "CARRIER_BUSY"
    assert error["error_type"] == "unavailable"


def test_a_describer_adds_an_argument_to_every_read(shown, configure, carol):
    configure(DESCRIBER_CLASS=shown("history/describers.py")["HistoryDescriber"])
    registry.reload()
    tools = carol.tools()
    assert "as_of" in tools["products_list"]["inputSchema"]["properties"]
    assert "as_of" not in tools["customers_create"]["inputSchema"]["properties"]


def test_naming_keeps_the_version_of_every_path(shown, expose):
    class Boxes(APIView):
        def get(self, request):
            return Response([])

    naming = shown("warehouse/naming.py")["VersionedNaming"]
    expose(path("api/v1/boxes/", Boxes.as_view()), NAMING_CLASS=naming)
    assert list(registry.tools()) == ["v1_boxes"]


def test_a_describer_describes_a_field_class_of_a_project(shown, expose):
    price = shown("prices/fields.py")["PriceField"]

    class Prices(generics.CreateAPIView):
        queryset = Product.objects.all()
        serializer_class = type("Price", (serializers.Serializer,), {"price": price()})

    expose(path("prices/", Prices.as_view()))
    tool = registry.tool("prices_create")
    assert "12.50 EUR" in tool.input_schema["properties"]["price"]["description"]
    assert set(tool.schema.output["properties"]["price"]["properties"]) == {"amount", "currency"}
