"""Which endpoints are exposed as tools."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.urls import include, path
from django.views import View
from rest_framework import viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.views import APIView

from drf_mcp.exposure import Exposure, Registry, mcp_tool, mcp_viewset


class Boxes(viewsets.ViewSet):
    def list(self, request): ...

    def create(self, request): ...

    @action(detail=False, methods=["post"])
    def shake(self, request): ...


@mcp_viewset()
class Decorated(Boxes): ...


class Heir(Decorated): ...


@mcp_viewset(actions=["list"])
class Some(Boxes): ...


@mcp_viewset(exclude=["list"])
class Others(Boxes): ...


@mcp_tool()
class Decide(APIView):
    def get(self, request): ...

    def post(self, request): ...


class DecideHeir(Decide): ...


class Plain(APIView):
    def get(self, request): ...

    @mcp_tool(title="One method")
    def post(self, request): ...


@mcp_tool(title="Function")
@api_view(["GET"])
def function(request) -> Response: ...


@api_view(["GET"])
def silent(request) -> Response: ...


def make_urls(viewset, prefix: str = "boxes", router=SimpleRouter) -> list:
    made = router()
    made.register(prefix, viewset, basename="thing")
    return made.urls


# --- Decorators ---------------------------------------------------------------------------


def test_a_routed_view_is_not_exposed_by_default(exposed):
    assert exposed(*make_urls(Boxes), path("silent/", silent)) == []


def test_a_decorated_viewset_is_exposed_with_all_actions(exposed):
    assert set(exposed(*make_urls(Decorated))) == {"boxes_list", "boxes_create", "boxes_shake"}


def test_a_decorator_may_select_actions(exposed):
    cases = [(Some, {"boxes_list"}), (Others, {"boxes_create", "boxes_shake"})]
    found = [set(exposed(*make_urls(viewset))) for viewset, _ in cases]
    assert found == [names for _, names in cases]


def test_a_subclass_of_a_decorated_view_is_not_exposed(exposed):
    for heir in [Heir, DecideHeir]:
        patterns = make_urls(heir) if heir is Heir else [path("decide/", heir.as_view())]
        assert exposed(*patterns) == [], heir


def test_a_decorated_view_is_exposed_with_all_methods(exposed):
    assert exposed(path("decide/", Decide.as_view())) == ["decide_get", "decide_post"]


def test_a_function_view_can_be_decorated(exposed):
    assert exposed(path("function/", function)) == ["function"]


# --- Registration -------------------------------------------------------------------------


def test_viewsets_views_and_functions_can_be_registered(exposed):
    for target, names in [
        (Boxes, {"boxes_list", "boxes_create", "boxes_shake"}),
        (Plain, {"plain_get", "plain_post"}),
        (silent, {"silent"}),
    ]:
        registry = Registry()
        registry.register(target)
        patterns = [*make_urls(Boxes), path("plain/", Plain.as_view()), path("silent/", silent)]
        # One method of Plain is decorated and therefore always exposed.
        assert set(exposed(*patterns, registry=registry)) == names | {"plain_post"}


def test_a_registered_router_exposes_only_its_own_routes(exposed):
    router = DefaultRouter()
    router.register("boxes", Boxes, basename="box")
    registry = Registry()
    registry.register(router)
    names = exposed(
        path("api/", include(router.urls)), *make_urls(Boxes, "other"), registry=registry
    )
    assert set(names) == {"boxes_list", "boxes_create", "boxes_shake"}


def test_a_registration_may_select_actions_and_a_name(exposed):
    for options, names in [
        ({"actions": ["list", "shake"]}, {"boxes_list", "boxes_shake"}),
        ({"exclude": ["list"]}, {"boxes_create", "boxes_shake"}),
        ({"actions": ["list", "create"], "exclude": ["list"]}, {"boxes_create"}),
        ({"actions": []}, set()),
        ({"name": "crates", "actions": ["list"]}, {"crates_list"}),
    ]:
        registry = Registry()
        registry.register(Boxes, **options)
        assert set(exposed(*make_urls(Boxes), registry=registry)) == names


def test_only_routers_and_api_views_can_be_registered(subtests):
    for target in [object(), "views.Boxes", View, print, HttpResponse]:
        with subtests.test(target=target):
            with pytest.raises(ImproperlyConfigured, match=r"registry\.register takes routers"):
                Registry().register(target)


# --- A registry with patterns --------------------------------------------------------------


@mcp_tool(tags=["billing"])
class Invoices(Plain): ...


LETTERS = [path("invoices/", Invoices.as_view()), path("function/", function), *make_urls(Boxes)]


# --- EXPOSURE_CLASS -----------------------------------------------------------------------


class Closed(Exposure):
    def is_exposed(self, endpoint):
        return False


# --- Options ------------------------------------------------------------------------------


@mcp_tool(title="Action", read_only=True)
def merged_action(self, request): ...


def test_options_nearer_to_the_action_win(settings):
    view = mcp_viewset(title="Viewset", description="Viewset", idempotent=True)(
        type("Merged", (Boxes,), {"list": merged_action})
    )
    registry = Registry()
    registry.register(view, description="Registry", destructive=False, title="Registry")
    urlconf = type("URLConf", (), {"urlpatterns": make_urls(view)})
    options = registry.tools(urlconf)["boxes_list"].options
    assert options.title == "Action"
    assert options.read_only is True
    assert options.description == "Viewset"
    assert options.idempotent is True
    assert options.destructive is False
