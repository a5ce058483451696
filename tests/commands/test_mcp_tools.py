"""``manage.py mcp_tools``: a table that fits the screen, one tool whole, definitions as JSON."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.tools import registry


@pytest.fixture
def printed(monkeypatch):
    """Run the command on a screen of a width and return what it printed."""

    def run(*args: str, columns: int = 200) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        out = io.StringIO()
        call_command("mcp_tools", *args, stdout=out)
        return out.getvalue()

    return run


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_screen(printed, columns):
    lines = printed(columns=columns).splitlines()
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
def test_every_tool_is_listed_whatever_the_width(printed, columns):
    words = printed(columns=columns).split()
    assert set(registry.tools()) <= set(words)


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_method_and_path_are_shown_whole(printed, columns):
    text = printed(columns=columns)
    assert "GET    /api/customers/{customer_pk}/orders/{pk}/" in text
    assert "DELETE /api/orders/{pk}/" in text


def test_a_wide_table_has_a_tool_in_a_line(printed):
    (line,) = [line for line in printed().splitlines() if "  orders_refund " in line]
    assert line.split()[:3] == ["orders_refund", "POST", "/api/orders/{pk}/refund/"]
    assert "pk*" in line


def test_tools_stand_under_their_views(printed):
    lines = printed().splitlines()
    view = lines.index("example_project.shop.views.QuoteView")
    assert lines[view + 1].split()[0] == "quote"


def test_a_tool_of_a_function_stands_under_its_function(printed):
    lines = printed().splitlines()
    view = lines.index("example_project.shop.views.stats")
    assert lines[view + 1].split()[0] == "stats"
    assert "  example_project.shop.views.stats.get" in printed("stats").splitlines()


def test_arguments_that_do_not_fit_are_cut_at_a_name(printed):
    cut = [line for line in printed(columns=80).splitlines() if line.endswith("…")]
    assert cut
    assert all(line.endswith(", …") for line in cut)


def test_the_number_of_tools_is_told(printed):
    assert printed().splitlines()[-1].startswith(f"{len(registry.tools())} tools.")


def test_without_tools_it_says_how_to_get_some(printed, settings):
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": []})
    assert printed().startswith("No tools. Register a router")


def test_one_tool_is_shown_whole(printed):
    text = printed("orders_refund")
    for part in (
        "orders_refund: Refund an order",
        "POST   /api/orders/{pk}/refund/",
        "example_project.shop.views.OrderViewSet.refund",
        "Give back the money",
        '"properties"',
        "destructiveHint=true",
    ):
        assert part in text


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


def test_json_of_one_tool_is_a_list_of_one(printed):
    (definition,) = json.loads(printed("quote", "--json"))
    assert definition["name"] == "quote"


def test_an_unknown_name_exits_with_2_and_the_nearest(printed):
    with pytest.raises(CommandError, match="Did you mean quote") as caught:
        printed("quot")
    assert caught.value.returncode == 2


def test_an_endpoint_that_needs_no_arguments_has_none_in_its_line(printed):
    (line,) = [line for line in printed().splitlines() if line.startswith("  stats ")]
    assert line.split() == ["stats", "GET", "/api/stats/"]
