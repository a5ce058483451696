"""``EXPOSE = \"urlconf\"`` exposes every API view of the URLconf that is not left out."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import include, path, re_path
from django.views import View
from drf_spectacular.views import SpectacularAPIView
from rest_framework.decorators import schema
from rest_framework.renderers import BrowsableAPIRenderer, StaticHTMLRenderer, TemplateHTMLRenderer
from rest_framework.views import APIView

from drf_mcp.exposure import Registry, mcp_tool, mcp_viewset
from tests.tools.test_exposure import Boxes, Decorated, function, make_urls, silent


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


def test_every_api_view_is_exposed_and_no_other_view(tools_of):
    tools = tools_of(
        path("django/", View.as_view()),
        path("function/", lambda request: HttpResponse()),
        path("silent/", silent),
        *make_urls(Boxes),
    )
    assert set(tools) == {"silent", "boxes_list", "boxes_create", "boxes_shake"}


def test_exclude_matches_methods_paths_names_and_tags(tools_of):
    for patterns, left in [
        (["/boxes/*"], {"silent"}),
        (["boxes_*"], {"silent"}),
        (["*_create", "/silent/"], {"boxes_list", "boxes_shake"}),
        (["tag:internal"], {"silent"}),
        (["/BOXES/*"], {"silent", "boxes_list", "boxes_create", "boxes_shake"}),
        (["GET *"], {"boxes_create", "boxes_shake"}),
        (["post *_shake"], {"silent", "boxes_list", "boxes_create"}),
        (["GET  tag:internal"], {"silent", "boxes_create", "boxes_shake"}),
    ]:
        tools = tools_of(*make_urls(Tagged), path("silent/", silent), EXCLUDE=patterns)
        assert set(tools) == left


def test_exclude_wins_over_include_and_over_a_decorator(tools_of):
    tools = tools_of(*make_urls(Decorated), INCLUDE=["boxes_*"], EXCLUDE=["boxes_list"])
    assert set(tools) == {"boxes_create", "boxes_shake"}


def test_a_decorated_view_is_exposed_although_include_does_not_match(tools_of):
    assert list(tools_of(path("function/", function), INCLUDE=["nothing"])) == ["function"]


def test_a_view_that_only_renders_html_is_never_exposed(tools_of):
    for renderers in [[TemplateHTMLRenderer], [StaticHTMLRenderer], [BrowsableAPIRenderer]]:
        view = mcp_tool()(type("Own", (Page,), {"renderer_classes": renderers}))
        assert not tools_of(path("page/", view.as_view()), path("raw/", Page.as_view())), renderers


def test_a_view_without_a_schema_is_not_exposed(tools_of):
    cases = [Unlisted, UnlistedHeir]
    assert [view for view in cases if tools_of(path("unlisted/", view.as_view()))] == []


def test_the_schema_view_is_exposed_only_if_registered(tools_of, exposed):
    patterns = [path("schema/", SpectacularAPIView.as_view())]
    assert not tools_of(*patterns)
    registry = Registry()
    registry.register(SpectacularAPIView)
    assert exposed(*patterns, registry=registry) == ["schema"]


def test_of_routes_that_differ_in_the_trailing_slash_the_first_is_exposed(tools_of):
    tools = tools_of(path("silent/<int:pk>", silent), path("silent/<int:pk>/", silent))
    assert [tool.endpoint.route.path for tool in tools.values()] == ["/silent/{pk}"]


def test_a_route_that_an_earlier_one_hides_is_not_exposed(tools_of):
    for first in [silent, lambda request: HttpResponse()]:
        boxes = include([re_path("^boxes/(?P<pk>[0-9]+)/$", Boxes.as_view({"get": "list"}))])
        tools = tools_of(
            re_path("^boxes/", include([re_path("^(?P<pk>[0-9]+)/$", first)])), path("", boxes)
        )
        assert "boxes_list" not in tools, first
