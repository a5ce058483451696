"""django-mcp-server: its ``drf_publish_..._mcp_tool`` for each viewset and view of the project.

It has no such function for a single row: as its documentation shows, that tool is a method of an
``MCPToolset`` whose return value goes through a serializer. Publishing a class changes the class,
so subclasses are published.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.urls import include, path
from mcp_server import (
    MCPToolset,
    drf_publish_create_mcp_tool,
    drf_publish_destroy_mcp_tool,
    drf_publish_list_mcp_tool,
    drf_publish_update_mcp_tool,
    drf_serialize_output,
    mcp_server,
)
from rest_framework.mixins import (
    CreateModelMixin,
    DestroyModelMixin,
    ListModelMixin,
    UpdateModelMixin,
)
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ViewSetMixin

from benchmarks.peers.doors import base
from benchmarks.peers.project import Endpoint, find_endpoints
from example_project.shop.models import Customer
from example_project.shop.serializers import CustomerSerializer

PUBLISH = {
    "list": (drf_publish_list_mcp_tool, ListModelMixin),
    "create": (drf_publish_create_mcp_tool, CreateModelMixin),
    "update": (drf_publish_update_mcp_tool, UpdateModelMixin),
    "destroy": (drf_publish_destroy_mcp_tool, DestroyModelMixin),
}


class CustomerTools(MCPToolset):
    @drf_serialize_output(CustomerSerializer)
    def customers_retrieve(self, id: int) -> dict:
        """Read a customer."""
        found = Customer.objects.select_related("owner").visible_to(self.request.user)
        return found.get(pk=id)


class Door(base.Door):
    version = version("django-mcp-server")
    revision = "2025-06-18"
    lacks = dict.fromkeys(
        ("create", "refused"), "the view is given the MCP message, and misses every field"
    )

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return [path("", include("mcp_server.urls"))]

    def __init__(self) -> None:
        super().__init__()
        if not settings.TOOLS:
            mcp_server.register_mcptoolset(CustomerTools())
        self.published: dict[type[Any], type[Any]] = {}
        for endpoint in find_endpoints():
            view = self.published.setdefault(
                endpoint.view, type(endpoint.view.__name__, (endpoint.view,), {})
            )
            self.publish(endpoint, view)

    def publish(self, endpoint: Endpoint, view: type[Any]) -> None:
        """Publish an endpoint that its functions support: the path has no argument but a key."""
        keys = {getattr(view, "lookup_url_kwarg", None) or getattr(view, "lookup_field", None)}
        if endpoint.action not in PUBLISH or not keys.issuperset(endpoint.keys):
            return
        publish, mixin = PUBLISH[endpoint.action]
        if not issubclass(view, mixin):
            return
        viewset = issubclass(view, ViewSetMixin)
        actions = {"actions": {endpoint.method: endpoint.action}} if viewset else {}
        text = " ".join((endpoint.view.__doc__ or endpoint.name).split())
        publish(view, name=endpoint.name, instructions=text, **actions)

    def keeps_api(self) -> bool:
        published = next(each for each in self.published.values() if issubclass(each, ViewSetMixin))
        view = published.as_view({"get": "list"})
        try:
            view(APIRequestFactory().get("/"))
        except AttributeError:
            return False
        return True

    def write_arguments(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"body": arguments} if operation in self.lacks else arguments
