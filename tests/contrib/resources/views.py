"""Views with responses of several types, and views that refuse or fail."""

from __future__ import annotations

from django.http import HttpResponse
from django_filters import rest_framework as filters
from rest_framework import generics, serializers
from rest_framework.exceptions import Throttled
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from drf_mcp.interaction.exchange import Block
from example_project.shop.models import Customer


class Open(APIView):
    """A view without permissions."""

    permission_classes = []


PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 16


@mcp_tool(resource={"mimeType": "text/markdown", "title": "A page", "annotations": {"priority": 1}})
class Page(Open):
    """Read a page of the handbook."""

    def get(self, request, name: str) -> HttpResponse:
        return HttpResponse(f"# {name}\n", content_type="text/markdown; charset=utf-8")


@mcp_tool(resource=True)
class Illustrated(Open):
    """Answer with data and an attached picture."""

    def get(self, request) -> Response:
        call_context(request).attach(Block.image(PNG, "image/png"))
        return Response({"name": "lamp"})


@mcp_tool(resource=True)
class Picture(Open):
    """Show a picture."""

    def get(self, request) -> HttpResponse:
        return HttpResponse(PNG, content_type="image/png")


@mcp_tool(resource=True)
class Archive(Open):
    """Read a file in a folder."""

    def get(self, request, file: str) -> Response:
        return Response({"file": file})


class Never(BaseThrottle):
    """Refuses every request."""

    def allow_request(self, request, view) -> bool:
        return False

    def wait(self) -> float:
        return 30


@mcp_tool(resource=True)
class Busy(Open):
    """Refuse every request for now."""

    throttle_classes = [Never]

    def get(self, request) -> Response:
        raise Throttled


@mcp_tool(resource=True)
class Broken(Open):
    """Fail."""

    def get(self, request) -> Response:
        raise ZeroDivisionError


class NameSerializer(serializers.ModelSerializer):
    """A customer's name and tier."""

    class Meta:
        model = Customer
        fields = ["id", "name", "tier"]


@mcp_tool(resource=True)
class Names(Open, generics.ListAPIView):
    """List the names of customers."""

    queryset = Customer.objects.order_by("pk")
    serializer_class = NameSerializer
    filter_backends = [filters.DjangoFilterBackend]
    filterset_fields = ["tier"]


@mcp_tool(resource=False)
class Name(Open, generics.RetrieveAPIView):
    """Show the name of a customer."""

    queryset = Customer.objects.all()
    serializer_class = NameSerializer
