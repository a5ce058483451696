"""Pages of tools: named in the list of tools, and read as resources."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.urls import path
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from tests.agents import REVISIONS, make_agent

EXTENSION = "io.modelcontextprotocol/ui"
URI = "ui://tools/weather"
OWN = "<!doctype html><title>{{ tool.title }}</title>{{ tool.inputSchema|json_script:'schema' }}"


@pytest.fixture
def templates(settings):
    """Load these templates and those of the apps."""

    def serve(**sources):
        loaders = [
            ("django.template.loaders.locmem.Loader", sources),
            "django.template.loaders.app_directories.Loader",
        ]
        backend = "django.template.backends.django.DjangoTemplates"
        settings.TEMPLATES = [{"BACKEND": backend, "OPTIONS": {"loaders": loaders}}]

    return serve


@pytest.fixture
def weather(expose, agent_of):
    """Serve one tool with these options and permissions, and return an agent."""

    def serve(username="alice", permissions=(), revision="2026-07-28", **options):
        class WeatherView(APIView):
            """Tell the weather."""

            def get(self, request) -> Response:
                return Response({"sun": True})

        if permissions:
            WeatherView.permission_classes = permissions
        settings = options.pop("settings", {})
        view = mcp_tool(name="weather", title="The weather <now>", **options)(WeatherView)
        expose(path("api/weather/", view.as_view()), **settings)
        return agent_of(username, revision=revision)

    return serve


def read(agent, uri=URI):
    [contents] = agent.result("resources/read", uri=uri)["contents"]
    return contents


def read_error(agent, uri):
    message, headers = agent.frame("resources/read", {"uri": uri})
    return json.loads(agent.post(message, headers).content)["error"]


class AddressParser(HTMLParser):
    """Collects the addresses that a page would fetch or open."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.fetched += [value for name, value in attrs if name in ("src", "href", "action")]


# --- Declaration --------------------------------------------------------------------------------


def test_a_page_declares_the_extension_and_resources(weather):
    capabilities = weather().result("server/discover")["capabilities"]
    assert EXTENSION not in capabilities.get("extensions", {})
    capabilities = weather(ui="table").result("server/discover")["capabilities"]
    assert (capabilities["extensions"][EXTENSION], capabilities["resources"]) == ({}, {})


def test_earlier_revisions_declare_the_extension_as_well(weather):
    weather(ui="table")
    for revision in REVISIONS[1:3]:
        agent = make_agent("alice", revision=revision)
        params = {"protocolVersion": revision, "capabilities": {}}
        client = {"name": "test", "version": "1"}
        offer = agent.result("initialize", clientInfo=client, **params)
        assert offer["capabilities"]["extensions"][EXTENSION] == {}
        [tool] = agent.result("tools/list")["tools"]
        assert tool["_meta"] == {"ui": {"resourceUri": URI}}
        assert read(agent)["_meta"]["ui"]["csp"]


@pytest.mark.parametrize(
    ("permissions", "scope"), [([AllowAny], "public"), ([IsAdminUser], "private")]
)
def test_a_page_is_public_where_every_caller_sees_its_tool(weather, permissions, scope):
    agent = weather("carol", permissions, ui="table")
    assert agent.result("resources/read", uri=URI)["cacheScope"] == scope


def test_a_page_of_an_endpoint_with_permissions_is_private(weather):
    closed = {"PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}
    agent = weather(permissions=[AllowAny], ui="table", settings=closed)
    assert agent.result("resources/read", uri=URI)["cacheScope"] == "private"


def test_pages_are_not_listed_as_resources(weather):
    agent = weather(ui="table")
    assert not [r for r in agent.result("resources/list")["resources"] if "ui://" in r["uri"]]
    assert agent.result("resources/templates/list")["resourceTemplates"] == []


# --- Reading ------------------------------------------------------------------------------------


def test_a_stock_page_is_small_and_fetches_nothing(weather):
    domains = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
    csp: dict[str, list] = {domain: [] for domain in domains}
    for name in ("table", "form"):
        contents = read(weather(ui=name))
        assert contents["uri"] == URI
        assert contents["mimeType"] == "text/html;profile=mcp-app"
        assert contents["_meta"]["ui"] == {"csp": csp, "prefersBorder": True}
        scripts = AddressParser()
        scripts.feed(contents["text"])
        assert scripts.fetched == []
        assert "default-src 'none'" in contents["text"]
        assert "The weather &lt;now&gt;" in contents["text"]


def test_the_context_of_a_template_has_neither_user_nor_request(weather, templates):
    templates(**{"sky.html": "<p>{{ request }}{{ user }}</p>"})
    assert read(weather(ui="sky.html"))["text"] == "<p></p>"


def test_a_page_may_name_the_origins_that_it_needs(weather, templates):
    templates(**{"sky.html": OWN})
    details = {
        "template": "sky.html",
        "csp": {"resourceDomains": ["https://cdn.example.com"]},
        "permissions": {"geolocation": {}},
        "prefersBorder": False,
    }
    given = read(weather(ui=details))["_meta"]["ui"]
    assert given["csp"]["resourceDomains"] == ["https://cdn.example.com"]
    assert given["csp"]["connectDomains"] == []
    assert given["permissions"] == {"geolocation": {}}
    assert given["prefersBorder"] is False
    assert "template" not in given


def test_a_caller_who_does_not_see_the_tool_does_not_find_its_page(weather):
    assert read(weather("carol", permissions=[IsAdminUser], ui="form"))["text"]
    error = read_error(weather("alice", permissions=[IsAdminUser], ui="form"), URI)
    assert error["code"] == -32602


# --- Templates that cannot be loaded ------------------------------------------------------------


def test_a_template_that_cannot_be_loaded_fails_the_checks(weather, templates):
    weather(ui="nowhere.html")
    for source, words in (({}, "nowhere.html"), ({"nowhere.html": "{% if %}"}, "if")):
        templates(**source)
        with pytest.raises(SystemCheckError, match=rf"(?s)E016.*{words}|{words}.*E016"):
            call_command("check", "--tag", "drf_mcp")
