"""What makes an endpoint a tool, and what does not."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.urls import include, path
from django.views import View
from rest_framework import viewsets
from rest_framework.decorators import action, api_view, schema
from rest_framework.renderers import (
    BrowsableAPIRenderer,
    JSONRenderer,
    StaticHTMLRenderer,
    TemplateHTMLRenderer,
)
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.views import APIView

from drf_mcp.schemas import endpoint
from drf_mcp.tools import Registry, mcp_tool, mcp_viewset


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


class OneAction(Boxes):
    @mcp_tool(title="Above")
    @action(detail=False)
    def above(self, request): ...

    @action(detail=False)
    @mcp_tool(title="Below")
    def below(self, request): ...


@mcp_tool()
class Decide(APIView):
    def get(self, request): ...

    def post(self, request): ...


class DecideHeir(Decide): ...


@mcp_viewset(actions=["post"])
class PostOnly(Decide): ...


class Plain(APIView):
    def get(self, request): ...

    @mcp_tool(title="One method")
    def post(self, request): ...


@mcp_tool(title="Function")
@api_view(["GET"])
def function(request) -> Response: ...


@api_view(["GET"])
def silent(request) -> Response: ...


def routed(viewset, prefix: str = "boxes", router=SimpleRouter) -> list:
    """Return a router's routes for one viewset."""
    made = router()
    made.register(prefix, viewset, basename="thing")
    return made.urls


# --- Decorators ---------------------------------------------------------------------------


def test_nothing_is_a_tool_by_being_routed(exposed):
    assert exposed(*routed(Boxes), path("silent/", silent)) == []


def test_a_decorated_viewset_exposes_all_its_actions(exposed):
    assert set(exposed(*routed(Decorated))) == {"boxes_list", "boxes_create", "boxes_shake"}


@pytest.mark.parametrize(
    ("viewset", "names"),
    [(Some, {"boxes_list"}), (Others, {"boxes_create", "boxes_shake"})],
)
def test_a_decorator_may_choose_actions(exposed, viewset, names):
    assert set(exposed(*routed(viewset))) == names


@pytest.mark.parametrize("heir", [Heir, DecideHeir])
def test_a_subclass_is_not_exposed_by_its_parents_decorator(exposed, heir):
    patterns = routed(heir) if heir is Heir else [path("decide/", heir.as_view())]
    assert exposed(*patterns) == []


def test_an_action_can_be_decorated_above_and_below(exposed):
    assert set(exposed(*routed(OneAction))) == {"boxes_above", "boxes_below"}


def test_a_decorated_view_exposes_all_its_methods(exposed):
    assert exposed(path("decide/", Decide.as_view())) == ["decide_get", "decide_post"]


def test_a_decorator_may_choose_methods_of_a_view(exposed):
    view = type("View", (Plain,), {"post": Decide.post})
    assert exposed(path("x/", mcp_viewset(actions=["post"])(view).as_view())) == ["x_post"]


def test_one_method_of_a_view_can_be_decorated(exposed):
    assert exposed(path("plain/", Plain.as_view())) == ["plain_post"]


def test_a_function_view_can_be_decorated(exposed):
    assert exposed(path("function/", function)) == ["function"]


def test_an_unknown_option_names_those_there_are():
    with pytest.raises(ImproperlyConfigured, match=r"Unknown tool option titel.*title"):
        mcp_tool(titel="Typo")


# --- Registration -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (Boxes, {"boxes_list", "boxes_create", "boxes_shake"}),
        (Plain, {"plain_get", "plain_post"}),
        (silent, {"silent"}),
    ],
)
def test_viewsets_views_and_functions_can_be_registered(exposed, target, names):
    registry = Registry()
    registry.register(target)
    patterns = [*routed(Boxes), path("plain/", Plain.as_view()), path("silent/", silent)]
    # One method of Plain is decorated whatever else is registered.
    assert set(exposed(*patterns, registry=registry)) == names | {"plain_post"}


def test_a_registered_router_exposes_its_own_routes_only(exposed):
    router = DefaultRouter()
    router.register("boxes", Boxes, basename="box")
    registry = Registry()
    registry.register(router)
    names = exposed(
        path("api/", include(router.urls)), *routed(Boxes, "other"), registry=registry
    )
    assert set(names) == {"boxes_list", "boxes_create", "boxes_shake"}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"actions": ["list", "shake"]}, {"boxes_list", "boxes_shake"}),
        ({"exclude": ["list"]}, {"boxes_create", "boxes_shake"}),
        ({"actions": ["list", "create"], "exclude": ["list"]}, {"boxes_create"}),
        ({"actions": []}, set()),
        ({"name": "crates", "actions": ["list"]}, {"crates_list"}),
    ],
)
def test_a_registration_may_choose_actions_and_a_noun(exposed, options, names):
    registry = Registry()
    registry.register(Boxes, **options)
    assert set(exposed(*routed(Boxes), registry=registry)) == names


def test_an_action_is_exposed_if_any_of_two_registrations_chooses_it(exposed):
    registry = Registry()
    registry.register(Boxes, actions=["list"])
    registry.register(Boxes, actions=["create"])
    assert set(exposed(*routed(Boxes), registry=registry)) == {"boxes_list", "boxes_create"}


def test_a_registered_class_is_exposed_under_every_route(exposed):
    registry = Registry()
    registry.register(Boxes, actions=["list"])
    assert exposed(*routed(Boxes), *routed(Boxes, "crates"), registry=registry) == [
        "boxes_list",
        "crates_list",
    ]


@pytest.mark.parametrize("target", [object(), "views.Boxes", View, print, HttpResponse])
def test_only_routers_and_api_views_can_be_registered(target):
    with pytest.raises(ImproperlyConfigured, match=r"registry\.register takes routers"):
        Registry().register(target)


def test_a_tool_registered_after_the_first_list_appears(exposed):
    registry = Registry()
    patterns = routed(Boxes)
    assert exposed(*patterns, registry=registry) == []
    registry.register(Boxes, actions=["list"])
    assert exposed(*patterns, registry=registry) == ["boxes_list"]


# --- Options ------------------------------------------------------------------------------


@mcp_tool(title="Action", read_only=True)
def merged_action(self, request): ...


def test_options_said_nearer_to_the_action_win(settings):
    view = mcp_viewset(title="Viewset", description="Viewset", idempotent=True)(
        type("Merged", (Boxes,), {"list": merged_action})
    )
    registry = Registry()
    registry.register(view, description="Registry", destructive=False, title="Registry")
    urlconf = type("URLConf", (), {"urlpatterns": routed(view)})
    options = registry.tools(urlconf)["boxes_list"].options
    assert options.title == "Action"
    assert options.read_only is True
    assert options.description == "Viewset"
    assert options.idempotent is True
    assert options.destructive is False


# --- The whole URLconf --------------------------------------------------------------------


class Page(APIView):
    renderer_classes = [TemplateHTMLRenderer]

    def get(self, request): ...


class Unlisted(APIView):
    schema = None

    def get(self, request): ...


@mcp_viewset(tags=["internal"])
class Tagged(Boxes): ...


@schema(None)
class UnlistedHeir(Unlisted): ...


def test_urlconf_mode_takes_every_api_view_and_no_other(tools_of):
    tools = tools_of(
        path("django/", View.as_view()),
        path("function/", lambda request: HttpResponse()),
        path("silent/", silent),
        *routed(Boxes),
    )
    assert set(tools) == {"silent", "boxes_list", "boxes_create", "boxes_shake"}


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["/boxes/*"], {"silent"}),
        (["boxes_*"], {"silent"}),
        (["*_create", "/silent/"], {"boxes_list", "boxes_shake"}),
        (["tag:internal"], {"silent"}),
        (["*"], set()),
        (["/BOXES/*"], {"silent", "boxes_list", "boxes_create", "boxes_shake"}),
    ],
)
def test_exclude_matches_paths_names_and_tags(tools_of, patterns, left):
    tools = tools_of(*routed(Tagged), path("silent/", silent), EXCLUDE=patterns)
    assert set(tools) == left


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["/boxes/"], {"boxes_list", "boxes_create"}),
        (["silent"], {"silent"}),
        (["*_list", "silent"], {"silent", "boxes_list"}),
        (["nothing"], set()),
    ],
)
def test_include_narrows_what_is_taken(tools_of, patterns, names):
    tools = tools_of(*routed(Boxes), path("silent/", silent), INCLUDE=patterns)
    assert set(tools) == names


def test_exclude_wins_over_include_and_over_a_decorator(tools_of):
    tools = tools_of(*routed(Decorated), INCLUDE=["boxes_*"], EXCLUDE=["boxes_list"])
    assert set(tools) == {"boxes_create", "boxes_shake"}


def test_a_decorated_view_is_a_tool_whatever_include_says(tools_of):
    assert list(tools_of(path("function/", function), INCLUDE=["nothing"])) == ["function"]


@pytest.mark.parametrize(
    "renderers", [[TemplateHTMLRenderer], [StaticHTMLRenderer], [BrowsableAPIRenderer]]
)
def test_a_view_of_pages_is_never_a_tool(tools_of, renderers):
    view = mcp_tool()(type("Own", (Page,), {"renderer_classes": renderers}))
    assert not tools_of(path("page/", view.as_view()), path("raw/", Page.as_view()))


def test_a_view_of_pages_and_json_is_a_tool(tools_of):
    view = Page.as_view(renderer_classes=[TemplateHTMLRenderer, JSONRenderer])
    assert list(tools_of(path("page/", view))) == ["page"]


@pytest.mark.parametrize("view", [Unlisted, UnlistedHeir])
def test_a_view_without_a_schema_is_left_out_of_the_urlconf(tools_of, view):
    assert not tools_of(path("unlisted/", view.as_view()))


def test_a_view_without_a_schema_can_still_be_registered(exposed):
    registry = Registry()
    registry.register(Unlisted)
    assert exposed(path("unlisted/", Unlisted.as_view()), registry=registry) == ["unlisted"]


def test_a_routers_root_is_no_tool(tools_of):
    router = DefaultRouter()
    router.register("boxes", Boxes, basename="box")
    assert not [tool for tool in tools_of(*router.urls) if "boxes" not in tool]


def test_another_mode_is_refused(tools_of):
    with pytest.raises(ImproperlyConfigured, match="EXPOSE"):
        tools_of(path("silent/", silent), EXPOSE="everything")


def test_nothing_is_introspected_before_it_is_asked_for(tools_of, monkeypatch):
    described = []
    monkeypatch.setattr(endpoint, "Inspection", lambda *args: described.append(args))
    tools = tools_of(*routed(Boxes), path("silent/", silent))
    assert len(tools) == 4
    assert not any(set(vars(tool)) - {"name", "endpoint", "options"} for tool in tools.values())
    assert described == []
