"""``manage.py mcp_tools``: a table that fits the screen, one tool whole, definitions as JSON."""

from __future__ import annotations

import json

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.tools import registry


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_every_tool_is_listed_and_no_line_is_wider_than_the_screen(printed, columns):
    text = printed(columns=columns)
    assert max(map(len, text.splitlines())) <= columns
    assert set(registry.tools()) <= set(text.split())


def test_a_tool_of_a_function_stands_under_its_function(printed):
    lines = printed().splitlines()
    view = lines.index("example_project.shop.views.stats")
    assert lines[view + 1].split()[0] == "stats"
    assert "  example_project.shop.views.stats.get" in printed("stats").splitlines()


def test_arguments_that_do_not_fit_are_cut_at_a_name(printed):
    cut = [line for line in printed(columns=80).splitlines() if line.endswith("…")]
    assert cut
    assert all(line.endswith(", …") for line in cut)


def test_without_tools_it_says_how_to_get_some(printed, settings):
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": []})
    assert printed().startswith("No tools. Register a router")


def test_what_could_not_be_described_is_told_with_a_remedy(printed, expose):
    class Undescribed(APIView):
        def post(self, request) -> Response:
            return Response(request.data)

    expose(path("undescribed/", Undescribed.as_view()))
    text = printed("undescribed")
    (finding,) = [line for line in text.splitlines() if line.startswith("! ")]
    assert "Undescribed.post" in finding
    assert "Give the view a serializer_class" in finding


@pytest.mark.django_db
def test_json_is_what_clients_of_the_current_revision_see(printed, agent_of):
    listed = agent_of("carol").tools()
    definitions = {tool["name"]: tool for tool in json.loads(printed("--json"))}
    assert list(definitions) == list(registry.tools())
    assert {name: definitions[name] for name in listed} == listed
