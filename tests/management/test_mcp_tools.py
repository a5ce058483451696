"""``manage.py mcp_tools``: the table of tools, one tool in detail, and definitions as JSON."""

from __future__ import annotations

import json

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import registry
from tests.management import library


@pytest.mark.slow
def test_every_tool_is_listed_in_lines_that_fit_the_screen(subtests, printed):
    for columns in [60, 80, 120, 200]:
        with subtests.test(columns=columns):
            text = printed(columns=columns)
            assert max(map(len, text.splitlines())) <= columns
            assert set(registry.tools()) <= set(text.split())


def test_a_tool_of_a_function_is_listed_under_its_function(printed):
    lines = printed().splitlines()
    view = lines.index("example_project.shop.views.stats")
    assert lines[view + 1].split()[0] == "stats"
    assert "  example_project.shop.views.stats.get" in printed("show", "stats").splitlines()


@pytest.mark.slow
def test_arguments_that_do_not_fit_are_cut_after_a_name(printed):
    cut = [line for line in printed(columns=80).splitlines() if line.endswith("…")]
    assert cut
    assert all(line.endswith(", …") for line in cut)


def test_without_tools_it_counts_the_endpoints_and_shows_how_to_expose_them(
    subtests, printed, expose
):
    for report in [(), ("findings",)]:
        with subtests.test(report=report):
            expose(*library.urlpatterns, EXPOSE="explicit")
            text = printed(*report, columns=80)
            assert text.startswith(
                "No tools yet. The URLconf has REST framework's 11 endpoints of 5 views"
            )
            assert 'DRF_MCP = {"EXPOSE": "urlconf"}' in text
            assert "from tests.management.library import ShelfViewSet" in text


def test_without_tools_the_view_with_the_most_endpoints_is_the_example(printed, expose):
    root = type("Root", (APIView,), {"get": lambda self, request: Response({})})
    expose(path("", root.as_view()), *library.urlpatterns, EXPOSE="explicit")
    assert "from tests.management.library import ShelfViewSet" in printed(columns=80)


def test_the_lines_for_mcp_py_expose_the_view(printed, expose, monkeypatch):
    expose(*library.urlpatterns, EXPOSE="explicit")
    monkeypatch.setattr(registry, "_registrations", [])
    lines = [line.strip() for line in printed().splitlines() if line.startswith("  ")]
    code = lines[lines.index("from drf_mcp import registry") :]
    exec("\n".join(code), {})
    registry.reload()
    assert "shelves_list" in registry.tools()


def test_without_tools_the_settings_that_leave_out_everything_are_named(printed, expose):
    expose(*library.urlpatterns, EXCLUDE=["*"])
    assert "INCLUDE, EXCLUDE or EXPOSURE_CLASS in DRF_MCP leaves all of them out" in printed()


def test_a_project_without_endpoints_is_reported(printed, settings):
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": []})
    assert printed().startswith("No tools: the URLconf has no REST framework endpoints.")


def test_a_long_path_is_shortened_at_its_start(printed, expose):
    long = "/".join(["api", "organisations", "<slug:organisation>", "warehouses", "<int:pk>", ""])
    view = library.Door.as_view()
    expose(path("door/", view), path(long, view), EXCLUDE=["content_retrieve"])
    lines = printed(columns=80).splitlines()
    assert lines[1].split() == ["door", "POST", "/door/"]
    assert lines[2].endswith("/{organisation}/warehouses/{pk}/")
    assert "…" in lines[2]


def test_an_undescribed_body_is_reported_with_a_remedy(printed, expose):
    class Undescribed(APIView):
        def post(self, request) -> Response:
            return Response(request.data)

    expose(path("undescribed/", Undescribed.as_view()))
    text = printed("show", "undescribed")
    (finding,) = [line for line in text.splitlines() if line.startswith("! ")]
    assert "Undescribed.post" in finding
    assert "Give the view a serializer_class" in finding


@pytest.mark.slow
@pytest.mark.django_db
def test_json_prints_the_definitions_of_the_current_revision(printed, agent_of):
    listed = agent_of("carol").tools()
    definitions = {tool["name"]: tool for tool in json.loads(printed("--json"))}
    assert list(definitions) == list(registry.tools())
    assert {name: definitions[name] for name in listed} == listed
