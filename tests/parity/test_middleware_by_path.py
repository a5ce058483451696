"""Middleware that decides by path, run around the views that a call reaches: two ways to do it."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from contextvars import ContextVar

import pytest
from django.http import JsonResponse
from django.urls import path
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.test import MCPClient, assert_tool_parity

pytestmark = pytest.mark.django_db

scope: ContextVar[str | None] = ContextVar("scope", default=None)


@contextmanager
def scoped(tenant: str):
    """Hold what is read to a tenant, and to none afterwards."""
    token = scope.set(tenant)
    try:
        yield
    finally:
        scope.reset(token)


def tenant_middleware(get_response):
    """Find the tenant in the path, and refuse one that is closed."""

    def middleware(request):
        kind, tenant, *_ = [*request.path_info.strip("/").split("/"), ""]
        if kind != "tenants":
            return get_response(request)
        if tenant == "closed":
            return JsonResponse({"detail": "This tenant is closed."}, status=403)
        request.tenant = tenant
        with scoped(tenant):
            return get_response(request)

    return middleware


class OfTenant(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.tenant != "others"


class Orders(APIView):
    """List the orders of a tenant."""

    permission_classes = [OfTenant]

    def get(self, request, tenant) -> Response:
        return Response({"tenant": request.tenant, "scope": scope.get()})


class InTenant:
    """Runs the middleware around a view that an agent calls; HTTP requests went through it."""

    def dispatch(self, request, *args, **kwargs):
        answer = super().dispatch
        if not getattr(request, "is_mcp_request", False):
            return answer(request, *args, **kwargs)
        return tenant_middleware(lambda request: answer(request, *args, **kwargs))(request)


def in_tenant(view):
    """Run the middleware around the callback of a route that an agent calls."""

    @functools.wraps(view)
    def wrapped(request, *args, **kwargs):
        if not getattr(request, "is_mcp_request", False):
            return view(request, *args, **kwargs)
        return tenant_middleware(lambda request: view(request, *args, **kwargs))(request)

    return wrapped


class InTenantOrders(InTenant, Orders):
    """List the orders of a tenant."""


@pytest.fixture(
    params=[InTenantOrders.as_view(), in_tenant(Orders.as_view())], ids=["mixin", "decorator"]
)
def client(request, expose, settings) -> MCPClient:
    """A client of views around which the middleware runs in either way."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.tenant_middleware"]
    expose(path("tenants/<slug:tenant>/orders/", request.param))
    return MCPClient()


def test_without_it_a_call_lacks_what_the_middleware_sets(expose, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.tenant_middleware"]
    expose(path("tenants/<slug:tenant>/orders/", Orders.as_view()))
    client = MCPClient(raise_request_exception=False)
    assert client.call_tool("tenants_orders", tenant="acme").error.code == "INTERNAL_ERROR"


def test_the_tenant_of_the_path_is_that_of_the_call(client):
    result = client.call_tool("tenants_orders", tenant="acme")
    assert result.data == {"tenant": "acme", "scope": "acme"}
    assert scope.get() is None


@pytest.mark.parametrize("tenant", ["acme", "others", "closed"])
def test_the_call_has_parity(client, tenant):
    assert_tool_parity(client, "tenants_orders", {"tenant": tenant})


def test_a_tool_whose_permission_asks_for_the_tenant_is_listed(client):
    assert "tenants_orders" in client.list_tools()
