"""The permissions of views decide which tools a caller can list and call."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.decorators import action
from rest_framework.permissions import (
    AllowAny,
    BasePermission,
    DjangoModelPermissions,
    DjangoObjectPermissions,
    IsAdminUser,
    IsAuthenticated,
)
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.exposure import registry
from example_project.shop.models import Customer, Product
from example_project.shop.serializers import ProductSerializer
from tests.parity.answers import assert_same_answer, observed, over_http
from tests.parity.probes import KeyAuthentication, Probe


class ProductViewSet(viewsets.ModelViewSet):
    """Products that may be changed."""

    queryset = Product.objects.all()
    serializer_class = ProductSerializer

    @action(detail=False, methods=["post"], permission_classes=[IsAdminUser])
    def restock(self, request) -> Response:
        """Fill the shelves."""
        return Response({"restocked": Product.objects.update(stock=9)})


@pytest.fixture
def expose_products(expose, db):
    def serve(**attributes) -> Product:
        router = SimpleRouter()
        view_class = type("ProductViewSet", (ProductViewSet,), attributes)
        router.register("products", view_class)
        expose(path("", include(router.urls)))
        return Product.objects.create(name="Kite", slug="kite", sku="GAM-0099", price=9)

    return serve


@pytest.mark.slow
def test_callers_list_the_tools_that_they_may_call(open_endpoint, agent_of):
    everything = set(registry.tools())
    for_everyone = {"products_list", "products_lookup", "products_retrieve", "status"}
    for_everyone |= {"health_check_health_get", "content_retrieve"}
    assert set(agent_of(None).tools()) == for_everyone
    assert set(agent_of("alice").tools()) == everything - {
        "customers_deactivate",
        "products_partial_update",
    }
    assert set(agent_of("carol").tools()) == everything


def test_an_action_has_its_own_permissions(expose_products, agent_of):
    expose_products(permission_classes=[AllowAny])
    assert agent_of("alice").call_with("products_restock", {}).code == "FORBIDDEN"
    assert not Product.objects.filter(stock=9).exists()
    assert agent_of("carol").call_with("products_restock", {}).data == {"restocked": 41}


def test_a_call_of_a_hidden_tool_is_forbidden(agent_of):
    customer = Customer.objects.filter(owner__username="alice", is_active=True).first()
    result = agent_of("alice").call("customers_deactivate", pk=customer.pk)
    assert result.code == "FORBIDDEN"
    customer.refresh_from_db()
    assert customer.is_active


def test_model_permissions_decide_the_list_and_the_calls(expose_products, agent_of):
    expose_products(permission_classes=[DjangoModelPermissions])
    reading = {"products_list", "products_retrieve"}
    assert set(agent_of("alice").tools()) == reading
    assert agent_of("alice").call_with("products_destroy", {"pk": 1}).code == "FORBIDDEN"
    alice = User.objects.get(username="alice")
    alice.user_permissions.add(Permission.objects.get(codename="change_product"))
    assert set(agent_of("alice").tools()) == reading | {
        "products_update",
        "products_partial_update",
    }
    result = agent_of("alice").call_with("products_partial_update", {"pk": 1, "stock": 3})
    assert result.data["stock"] == 3
    assert agent_of("alice").call_with("products_destroy", {"pk": 1}).code == "FORBIDDEN"


@pytest.mark.parametrize("username", ["alice", "bob", "admin"])
@pytest.mark.parametrize(
    ("method", "tool"), [("GET", "retrieve"), ("PATCH", "partial_update"), ("DELETE", "destroy")]
)
def test_object_permissions_are_checked(expose_products, http_of, agent_of, username, method, tool):
    """Bob has every permission on products, and none on this object."""
    kite = expose_products(permission_classes=[DjangoObjectPermissions])
    may = Permission.objects.filter(content_type__model="product")
    User.objects.get(username="bob").user_permissions.set(may)
    http, agent = http_of(username), agent_of(username)
    response, expected = observed(lambda: over_http(http, method, f"/products/{kite.pk}/", {}))
    result, effect = observed(lambda: agent.call_with(f"products_{tool}", {"pk": kite.pk}))
    assert_same_answer(response, result)
    assert effect == expected


class OnlyOnFridays(BasePermission):
    """Reads the key in the path."""

    def has_permission(self, request, view) -> bool:
        return view.kwargs["pk"] == "1"


def test_a_permission_that_reads_the_path_is_checked_in_the_call(expose, alice):
    probe = Probe.looking(permission_classes=[OnlyOnFridays])
    expose(path("probe/<str:pk>/", probe.as_view()))
    assert "probe_get" in alice.tools()
    assert alice.call_with("probe_get", {"pk": "2"}).code == "FORBIDDEN"
    assert not alice.call_with("probe_get", {"pk": "1"}).is_error


@pytest.mark.parametrize(
    ("composed", "listed"),
    [
        (IsAdminUser | IsAuthenticated, True),
        (IsAdminUser & IsAuthenticated, False),
        (~IsAdminUser, True),
    ],
)
def test_composed_permissions_are_checked_as_a_whole(expose, alice, composed, listed):
    expose(path("probe/", Probe.looking(permission_classes=[composed]).as_view()))
    assert ("probe_get" in alice.tools()) is listed
    assert alice.call_with("probe_get", {}).is_error is not listed


class PerMethod(Probe):
    """Chooses its permissions by the method of the request."""

    permission_classes = []

    def get_permissions(self):
        return [AllowAny()] if self.request.method == "GET" else [IsAdminUser()]


@pytest.mark.parametrize(
    ("view_class", "scope"), [(Probe, "public"), (PerMethod, "private")], ids=lambda v: str(v)
)
def test_only_a_list_that_is_the_same_for_all_callers_is_public(
    expose, agent_of, view_class, scope
):
    expose(path("probe/", view_class.as_view()))
    assert agent_of(None).result("tools/list")["cacheScope"] == scope


def test_the_list_checks_permissions_for_the_caller_that_the_view_sees(expose, http_of, agent_of):
    """The endpoint knows alice by her token, and the view knows callers by keys only."""
    probe = Probe.looking(
        authentication_classes=[KeyAuthentication], permission_classes=[IsAuthenticated]
    )
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=[TokenAuthentication])
    agent = agent_of("alice")
    assert "probe_get" not in agent.tools()
    agent.http.defaults["HTTP_X_KEY"] = "alice read"
    assert "probe_get" in agent.tools()
