"""Views that call other views with their request."""

from __future__ import annotations

import copy

import pytest
from django.contrib.auth import get_user_model
from django.urls import path, resolve
from rest_framework import serializers, viewsets
from rest_framework.decorators import api_view
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.test import MCPClient
from example_project.shop.models import Product

CALL_MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]


class ProductSerializer(serializers.ModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "name"]


class Products(viewsets.ReadOnlyModelViewSet):
    """Lists nothing for anonymous users."""

    queryset = Product.objects.order_by("id")
    serializer_class = ProductSerializer
    pagination_class = LimitOffsetPagination
    permission_classes = []

    def get_queryset(self):
        products = super().get_queryset()
        return products if self.request.user.is_authenticated else products.none()


LIST = Products.as_view({"get": "list"})


class Changed(APIView):
    def get(self, request):
        request._request.GET._mutable = True
        request._request.GET["limit"] = "3"
        return Response(LIST(request._request).data["results"])


class Replaced(APIView):
    permission_classes = []

    def get(self, request):
        request._request.GET = {"limit": "3"}
        return Response(LIST(request._request).data["results"])


class Copied(APIView):
    def get(self, request):
        inner = copy.copy(request._request)
        inner.GET = inner.GET.copy()
        inner.GET["limit"] = "3"
        return LIST(inner)


class Resolved(APIView):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        request._request.GET = request.GET.copy()

    def get(self, request):
        request._request.GET["limit"] = "3"
        return Response(resolve("/products/").func(request._request).data["results"])


@api_view(["GET"])
def by_function(request):
    request._request.GET = request.GET.copy()
    request._request.GET["limit"] = "3"
    return LIST(request._request)


VIEWS = [*(view.as_view() for view in (Changed, Replaced, Copied, Resolved)), by_function]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
@pytest.mark.parametrize("middleware", [[], CALL_MIDDLEWARE], ids=["bare", "middleware"])
@pytest.mark.parametrize("sign_in", ["force_login", "force_authenticate", "token"])
def test_the_called_view_sees_the_user_and_the_changed_query(
    expose, http_of, agent_of, db, view, middleware, sign_in
):
    expose(path("rows/", view), path("products/", LIST), CALL_MIDDLEWARE=middleware)
    if sign_in == "token":
        over_http, answer = http_of("alice").get("/rows/").json(), agent_of("alice").call("rows")
    else:
        client = MCPClient()
        getattr(client, sign_in)(get_user_model().objects.get(username="alice"))
        over_http, answer = client.get("/rows/").json(), client.call_tool("rows", {})
    rows = over_http["results"] if isinstance(over_http, dict) else over_http
    assert len(rows) == 3
    assert answer.data["results"] == rows
