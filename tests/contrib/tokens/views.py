"""A viewset that records its runs."""

from __future__ import annotations

from rest_framework import serializers, viewsets
from rest_framework.response import Response

from drf_mcp import mcp_viewset
from example_project.shop.models import Product

RUNS: list[str] = []


class ProductSerializer(serializers.ModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "name"]


@mcp_viewset(many=True)
class CountedViewSet(viewsets.ModelViewSet):
    """Products; ``RUNS`` has the actions that ran."""

    queryset = Product.objects.order_by("pk")
    serializer_class = ProductSerializer

    def initial(self, request, *args, **kwargs) -> None:
        super().initial(request, *args, **kwargs)
        RUNS.append(self.action)

    def destroy(self, request, *args, **kwargs) -> Response:
        raise AssertionError("nothing is deleted here")
