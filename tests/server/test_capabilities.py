"""A server with a custom capability and tools, in both eras."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import path

from drf_mcp.calls.capability import ToolsCapability
from drf_mcp.protocol import REVISIONS, Capability
from drf_mcp.server import Server
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.server.views import Word


class Dictionary(Capability):
    name = "dictionary"
    methods = {"dictionary/plural": "get_plural"}
    name_parameters = {"dictionary/plural": "word"}
    result_members = {
        revision: {"dictionary/plural": frozenset({"plural", "_meta"})} for revision in REVISIONS
    }

    def get_capability_object(self, era):
        return {"languages": ["en"]}

    def get_plural(self, context):
        context.caller.authenticate()
        return {"plural": context.message.params["word"] + "s", "internal": "not sent"}


class WordServer(Server):
    capability_classes = [ToolsCapability, Dictionary]

    def get_server_info(self):
        return {**super().get_server_info(), "name": "words"}

    def get_instructions(self, context):
        return "Words are looked up here."


@pytest.fixture
def endpoint(settings):
    view = MCPView.as_view(server_class=WordServer, permission_classes=[])
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("words/", view)]})
    return "/words/"


def send(endpoint, revision, method, params, **headers):
    message, own = Agent(Client(), revision=revision).frame(method, params)
    return Client().post(
        endpoint, message, content_type="application/json", headers={**own, **headers}
    )


@pytest.fixture(autouse=True)
def check_every_message(watch):
    # The types of the specification do not know the method of the custom capability.
    yield
    watch.messages.clear()


@pytest.fixture(params=["2026-07-28", "2025-11-25"])
def revision(request):
    return request.param


def test_a_custom_method_has_a_result_with_the_members_of_the_revision(endpoint, revision):
    response = send(endpoint, revision, "dictionary/plural", {"word": "cat"}, **{"Mcp-Name": "cat"})
    result = response.json()["result"]
    assert result["plural"] == "cats"
    assert result.keys() - {"resultType", "_meta"} == {"plural"}


def test_a_custom_capability_is_declared_with_the_tools(endpoint, revision):
    handshake = {"2026-07-28": "server/discover"}.get(revision, "initialize")
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {}}
    result = send(endpoint, revision, handshake, params).json()["result"]
    assert result["capabilities"]["dictionary"] == {"languages": ["en"]}
    assert result["instructions"] == "Words are looked up here."
    known = result.get("serverInfo") or result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert known["name"] == "words"


def test_tools_that_the_capability_leaves_out_are_neither_listed_nor_callable(settings, expose):
    class NoWords(ToolsCapability):
        def get_tools(self, context):
            tools = super().get_tools(context)
            return {name: tool for name, tool in tools.items() if name != "word"}

    server_class = type("Quiet", (Server,), {"capability_classes": [NoWords]})
    expose(
        path("word/", Word.as_view()),
        path("other/", Word.as_view()),
        path("quiet/", MCPView.as_view(server_class=server_class)),
    )
    listed = send("/quiet/", "2025-11-25", "tools/list", {}).json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["other"]
    refused = send("/quiet/", "2025-11-25", "tools/call", {"name": "word"}).json()
    assert "word" in refused["error"]["message"]


def test_hooks_of_the_view_choose_authenticators_and_permissions(settings):
    from rest_framework.authentication import TokenAuthentication
    from rest_framework.permissions import IsAuthenticated

    class Keyed(TokenAuthentication):
        def __init__(self, keyword):
            self.keyword = keyword

    class KeyedView(MCPView):
        def get_authenticators(self):
            return [Keyed("Key")]

        def get_permissions(self):
            return [IsAuthenticated()]

    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("k/", KeyedView.as_view())]})
    response = send("/k/", "2025-11-25", "tools/list", {})
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Key")
