"""What a caller may do is what the views' permissions say, in the list and in the call."""

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
    IsAuthenticatedOrReadOnly,
)
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.tools import registry
from example_project.shop.models import Customer, Product
from example_project.shop.serializers import ProductSerializer
from tests.parity.answers import assert_same_answer, called, observed, over_http
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
def test_everybody_lists_what_they_may_call(open_endpoint, agent_of):
    everything = set(registry.tools())
    for_anybody = {"products_list", "products_lookup", "products_retrieve", "status"}
    for_anybody |= {"health_check_health_get", "content_retrieve"}
    assert set(agent_of(None).tools()) == for_anybody
    assert set(agent_of("alice").tools()) == everything - {
        "customers_deactivate",
        "products_partial_update",
    }
    assert set(agent_of("carol").tools()) == everything


def test_the_permissions_of_an_action_are_its_own(expose_products, agent_of):
    expose_products(permission_classes=[AllowAny])
    assert called(agent_of("alice"), "products_restock", {}).code == "FORBIDDEN"
    assert not Product.objects.filter(stock=9).exists()
    assert called(agent_of("carol"), "products_restock", {}).data == {"restocked": 41}


def test_a_hidden_tool_can_be_called_and_answers_forbidden(agent_of):
    customer = Customer.objects.filter(owner__username="alice", is_active=True).first()
    result = agent_of("alice").call("customers_deactivate", pk=customer.pk)
    assert result.code == "FORBIDDEN"
    customer.refresh_from_db()
    assert customer.is_active


def test_model_permissions_decide_what_is_listed_and_what_is_done(expose_products, agent_of):
    expose_products(permission_classes=[DjangoModelPermissions])
    reading = {"products_list", "products_retrieve"}
    assert set(agent_of("alice").tools()) == reading
    assert called(agent_of("alice"), "products_destroy", {"pk": 1}).code == "FORBIDDEN"
    alice = User.objects.get(username="alice")
    alice.user_permissions.add(Permission.objects.get(codename="change_product"))
    assert set(agent_of("alice").tools()) == reading | {
        "products_update",
        "products_partial_update",
    }
    result = called(agent_of("alice"), "products_partial_update", {"pk": 1, "stock": 3})
    assert result.data["stock"] == 3
    assert called(agent_of("alice"), "products_destroy", {"pk": 1}).code == "FORBIDDEN"


@pytest.mark.parametrize("username", ["alice", "bob", "admin"])
@pytest.mark.parametrize(
    ("method", "tool"), [("GET", "retrieve"), ("PATCH", "partial_update"), ("DELETE", "destroy")]
)
def test_object_permissions_hold(expose_products, http_of, agent_of, username, method, tool):
    """Bob has every permission on products, and none on this one."""
    kite = expose_products(permission_classes=[DjangoObjectPermissions])
    may = Permission.objects.filter(content_type__model="product")
    User.objects.get(username="bob").user_permissions.set(may)
    http, agent = http_of(username), agent_of(username)
    response, expected = observed(lambda: over_http(http, method, f"/products/{kite.pk}/", {}))
    result, effect = observed(lambda: called(agent, f"products_{tool}", {"pk": kite.pk}))
    assert_same_answer(response, result)
    assert effect == expected


def test_the_list_asks_with_the_tools_own_method(expose_products, agent_of):
    expose_products(permission_classes=[IsAuthenticatedOrReadOnly])
    assert set(agent_of(None).tools()) == {"products_list", "products_retrieve"}


class OnlyOnFridays(BasePermission):
    """Needs the row that the path names."""

    def has_permission(self, request, view) -> bool:
        return view.kwargs["pk"] == "1"


def test_a_permission_that_looks_at_the_row_is_asked_in_the_call(expose, alice):
    probe = Probe.looking(permission_classes=[OnlyOnFridays])
    expose(path("probe/<str:pk>/", probe.as_view()))
    assert "probe_get" in alice.tools()
    assert called(alice, "probe_get", {"pk": "2"}).code == "FORBIDDEN"
    assert not called(alice, "probe_get", {"pk": "1"}).is_error


@pytest.mark.parametrize(
    ("composed", "listed"),
    [
        (IsAdminUser | IsAuthenticated, True),
        (IsAdminUser & IsAuthenticated, False),
        (~IsAdminUser, True),
    ],
)
def test_composed_permissions_are_asked_as_a_whole(expose, alice, composed, listed):
    expose(path("probe/", Probe.looking(permission_classes=[composed]).as_view()))
    assert ("probe_get" in alice.tools()) is listed
    assert called(alice, "probe_get", {}).is_error is not listed


class PerMethod(Probe):
    """Chooses its permissions by the request, whatever the class says."""

    permission_classes = []

    def get_permissions(self):
        return [AllowAny()] if self.request.method == "GET" else [IsAdminUser()]


def test_permissions_that_a_view_chooses_decide_the_list(expose, agent_of):
    expose(path("probe/", PerMethod.as_view()))
    assert "probe_post" not in agent_of("alice").tools()
    assert "probe_post" in agent_of("carol").tools()


@pytest.mark.parametrize(
    ("view_class", "scope"), [(Probe, "public"), (PerMethod, "private")], ids=lambda v: str(v)
)
def test_only_a_list_that_is_everybodys_is_marked_public(expose, agent_of, view_class, scope):
    expose(path("probe/", view_class.as_view()))
    assert agent_of(None).result("tools/list")["cacheScope"] == scope


class ChecksItself(Probe):
    """Has a check of its own."""

    def check_permissions(self, request) -> None:
        if not request.user.is_staff:
            self.permission_denied(request)


def test_a_check_of_the_views_own_decides_the_list(expose, agent_of):
    expose(path("probe/", ChecksItself.as_view()))
    assert "probe_get" not in agent_of("alice").tools()
    assert "probe_get" in agent_of("carol").tools()
    assert agent_of("carol").result("tools/list")["cacheScope"] == "private"


def test_a_view_is_asked_about_whom_it_would_take_the_caller_for(expose, http_of, agent_of):
    """The endpoint knows alice by her token; the view knows keys only."""
    probe = Probe.looking(
        authentication_classes=[KeyAuthentication], permission_classes=[IsAuthenticated]
    )
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=[TokenAuthentication])
    agent = agent_of("alice")
    assert "probe_get" not in agent.tools()
    agent.http.defaults["HTTP_X_KEY"] = "alice read"
    assert "probe_get" in agent.tools()


def test_listing_leaves_the_caller_who_they_are(expose, agent_of):
    """For middleware that looks at the user once the answer is there."""
    probe = Probe.looking(
        authentication_classes=[KeyAuthentication], permission_classes=[IsAuthenticated]
    )
    expose(path("probe/", probe.as_view()), AUTHENTICATION_CLASSES=[TokenAuthentication])
    agent = agent_of("alice")
    agent.http.defaults["HTTP_X_KEY"] = "bob"
    response = agent.post(*agent.frame("tools/list", {}))
    assert response.wsgi_request.user == User.objects.get(username="alice")


@pytest.mark.slow
def test_listing_costs_no_query_per_tool(alice, django_assert_num_queries):
    alice.result("tools/list")
    with django_assert_num_queries(1):
        alice.result("tools/list")
