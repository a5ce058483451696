"""The checks of the tools: their URLs, their names and their number."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from django.urls import include, path
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from drf_mcp.checks.endpoints import MAX_TOOLS
from drf_mcp.checks.project import Project
from drf_mcp.exposure import Registry, mcp_tool, mcp_viewset
from drf_mcp.views import MCPView


class Word(APIView):
    """Repeat a word."""

    def get(self, request) -> Response: ...


@pytest.fixture
def serve(settings, monkeypatch):
    registry = Registry()
    monkeypatch.setattr(Project, "registry", registry)
    monkeypatch.setattr(MCPView, "registry", registry)

    def patterns(*urlpatterns, expose: str = "explicit", **mcp_settings) -> Registry:
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": list(urlpatterns)})
        settings.DRF_MCP = {"EXPOSE": expose, **mcp_settings}
        registry.reload()
        return registry

    return patterns


@pytest.fixture
def in_project():
    moved: list[type] = []

    def move(view_class: type) -> type:
        view_class.__module__ = "shop.views"
        view_class.__qualname__ = view_class.__name__
        moved.append(view_class)
        return view_class

    yield move
    for view_class in moved:
        view_class.__module__ = __name__


@pytest.fixture
def unrouted(found):
    return lambda: [w for w in found("drf_mcp.W003") if "example_project" not in w.msg]


ENDPOINT = path("", include("drf_mcp.urls"))


def test_the_example_project_passes_every_check():
    assert run_checks(tags=["drf_mcp"]) == []


# --- The endpoint's URL -------------------------------------------------------------------


def test_tools_without_an_endpoint_are_reported(found, serve):
    serve(path("word/", Word.as_view()), expose="urlconf")
    (warning,) = found("drf_mcp.W001")
    assert warning.msg == "The project has 1 tool, but no URL leads to an MCP endpoint."
    assert 'include("drf_mcp.urls")' in warning.hint
    serve(path("word/", Word.as_view()), ENDPOINT, expose="urlconf")
    assert found("drf_mcp.W001") == []
    serve(path("word/", Word.as_view()))
    assert found("drf_mcp.W001") == []


def test_an_endpoint_of_another_registry_does_not_count(found, serve):
    other = path("other", MCPView.as_view(registry=Registry()))
    serve(path("word/", Word.as_view()), other, expose="urlconf")
    assert len(found("drf_mcp.W001")) == 1


def test_a_project_without_urls_can_be_checked(settings):
    del settings.ROOT_URLCONF
    messages = run_checks(tags=["drf_mcp"], include_deployment_checks=True)
    assert messages == []


# --- Routes -------------------------------------------------------------------------------


def test_a_registered_view_without_a_route_is_reported(unrouted, serve):
    serve(ENDPOINT).register(Word)
    (warning,) = unrouted()
    assert warning.msg.startswith(f"{__name__}.Word is registered, but no route")
    serve(path("word/", Word.as_view()), ENDPOINT)
    assert unrouted() == []


def test_a_registered_router_that_is_not_included_is_reported(unrouted, serve):
    class Words(ViewSet):
        def list(self, request) -> Response: ...

    router = SimpleRouter()
    router.register("words", Words, "word")
    serve(ENDPOINT).register(router)
    (warning,) = unrouted()
    assert warning.msg.startswith("A router is registered (words), but no route")


@pytest.mark.slow
def test_a_decorated_view_without_a_route_is_reported(unrouted, serve, in_project):
    for decorate in (mcp_viewset(), mcp_tool()):
        serve(ENDPOINT)
        kept = decorate(type("Lost", (Word,), {}))
        # Views of test modules need no route.
        assert unrouted() == []
        in_project(kept)
        (warning,) = unrouted()
        assert warning.msg.startswith("shop.views.Lost is decorated, but no route")
        serve(ENDPOINT, path("lost/", kept.as_view()))
        assert unrouted() == []
        kept.__module__ = __name__


def test_a_decorated_action_without_a_route_is_reported(unrouted, serve, in_project):
    class Words(ViewSet):
        @mcp_tool()
        @action(detail=False)
        def shout(self, request) -> Response: ...

    class Derived(Words):
        pass

    serve(ENDPOINT)
    in_project(Words)
    (warning,) = unrouted()
    assert warning.msg.startswith("shop.views.Words.shout is decorated")
    router = SimpleRouter()
    router.register("words", Derived, "word")
    serve(ENDPOINT, *router.urls)
    assert unrouted() == []


# --- Names and numbers --------------------------------------------------------------------


@pytest.mark.slow
def test_more_tools_than_clients_accept_are_reported(found, serve):
    words = make_words(MAX_TOOLS + 1)
    serve(*words, ENDPOINT, expose="urlconf")
    (warning,) = found("drf_mcp.W005")
    assert "128" in warning.msg
    serve(*words[2:], ENDPOINT, expose="urlconf")
    assert found("drf_mcp.W005") == []


def make_words(count: int) -> list:
    return [path(f"word{number}/", Word.as_view()) for number in range(count)]


@pytest.mark.slow
def test_a_long_list_with_search_or_toolsets_is_not_reported(found, serve):
    for search, endpoint in (
        (True, ENDPOINT),
        (False, path("mcp", MCPView.as_view(tool_search=True))),
        (False, path("mcp", MCPView.as_view(tools=["word1*"]))),
    ):
        serve(*make_words(MAX_TOOLS + 1), endpoint, expose="urlconf", TOOL_SEARCH=search)
        assert found("drf_mcp.W005") == []


def test_a_tool_with_a_name_of_the_search_is_reported(found, serve):
    view = mcp_tool(name="tools_search")(type("Search", (Word,), {}))
    serve(path("tools/", view.as_view()), ENDPOINT, TOOL_SEARCH=True)
    (error,) = found("drf_mcp.E017")
    assert "tools_search" in error.msg
    serve(path("tools/", view.as_view()), ENDPOINT)
    assert found("drf_mcp.E017") == []


# --- Names that match nothing -------------------------------------------------------------


class Boxes(ViewSet):
    def list(self, request): ...

    def destroy(self, request, pk=None): ...


class Lids(ViewSet):
    def list(self, request): ...


def boxes_and_lids() -> SimpleRouter:
    router = SimpleRouter()
    router.register("boxes", Boxes, basename="box")
    router.register("lids", Lids, basename="lid")
    return router


@pytest.mark.slow
def test_a_pattern_that_matches_no_endpoint_is_reported(found, serve):
    wrong = ["*_destory", "/box/*", "tag:nobody", "PATCH *"]
    routes = [*boxes_and_lids().urls, ENDPOINT]
    for name in ("INCLUDE", "EXCLUDE"):
        serve(*routes, expose="urlconf", **{name: ["GET /lids/", *wrong, "boxes_*"]})
        messages = [warning.msg.split(", ")[0] for warning in found("drf_mcp.W014")]
        assert messages == [f"DRF_MCP['{name}'] has the pattern {pattern!r}" for pattern in wrong]
        serve(*routes, expose="urlconf", **{name: ["GET /lids/", "boxes_*"]})
        assert found("drf_mcp.W014") == []


def test_a_pattern_of_a_toolset_or_view_that_matches_nothing_is_reported(found, serve):
    narrow = path("narrow/mcp", MCPView.as_view(tools=["box_*", "*_destory"]))
    patterns = [*boxes_and_lids().urls, ENDPOINT, narrow]
    serve(*patterns, expose="urlconf", TOOLSETS={"lids": ["/lids/", "/lid/"]})
    assert [warning.msg for warning in found("drf_mcp.W014")] == [
        "DRF_MCP['TOOLSETS']['lids'] has the pattern '/lid/', which matches no endpoint.",
        "The MCP endpoint /narrow/mcp has the pattern 'box_*', which matches no endpoint.",
        "The MCP endpoint /narrow/mcp has the pattern '*_destory', which matches no endpoint.",
    ]


def test_an_option_for_an_unknown_action_is_reported(found, serve):
    for option in ("actions", "exclude"):
        router = boxes_and_lids()
        registry = serve(*router.urls, ENDPOINT)
        registry.register(router, **{option: ["list", "destory"]})
        (warning,) = found("drf_mcp.W014")
        assert "'destory'" in warning.msg
        assert warning.msg.endswith("Their actions: destroy, list.")


def test_an_option_for_an_action_of_one_of_several_views_is_not_reported(found, serve):
    registry = serve(*boxes_and_lids().urls, ENDPOINT)
    registry.register(Boxes, Lids, exclude=["destroy"])
    assert found("drf_mcp.W014") == []


def test_many_on_a_view_without_retrieve_is_reported(found, serve):
    router = boxes_and_lids()
    registry = serve(*router.urls, ENDPOINT)
    registry.register(router, many=True)
    (warning,) = found("drf_mcp.W014")
    assert warning.msg.startswith("many=True lets retrieve read several objects")
    assert warning.msg.endswith("the views have: destroy, list.")


def test_options_of_a_decorator_are_checked_too(found, serve):
    @mcp_viewset(exclude=["delete"])
    class Crates(Boxes): ...

    router = SimpleRouter()
    router.register("crates", Crates, basename="crate")
    serve(*router.urls, ENDPOINT)
    (warning,) = found("drf_mcp.W014")
    assert "'delete'" in warning.msg
