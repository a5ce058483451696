"""``tools/list``: pages, order, caching, and what a definition holds."""

from __future__ import annotations

import base64
import json

import pytest
from django.contrib.auth import get_user_model
from django.db import models
from django.test import Client
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext_lazy
from rest_framework import generics, serializers, viewsets
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission, IsAdminUser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, StatusEnvelope
from drf_mcp.tools import mcp_tool, registry
from drf_mcp.views import MCPView
from tests.agents import REVISIONS, Agent
from tests.server.views import Word


class StaffOnly(Word):
    """Repeat a word to staff."""

    permission_classes = [IsAdminUser]


class AskedAnew(Word):
    """Choose permissions by the request."""

    def get_permissions(self) -> list:
        return [IsAdminUser()]


@mcp_tool(envelope_class=OkEnvelope)
class Ok(Word):
    """Answer in an envelope of its own."""


class Broken(APIView):
    """Cannot be described."""

    permission_classes = []

    @property
    def serializer_class(self):
        raise RuntimeError("needs a request")

    @property
    def queryset(self):
        raise RuntimeError("needs a tenant")

    def post(self, request) -> Response:
        return Response({})


@pytest.fixture
def five(expose):
    def serve(**mcp_settings) -> Agent:
        expose(*(path(f"{name}/", Word.as_view()) for name in "caebd"), **mcp_settings)
        return Agent(Client())

    return serve


def pages_of(agent: Agent) -> list[list[str]]:
    pages, cursor = [], {}
    while True:
        result = agent.result("tools/list", **cursor)
        pages.append([tool["name"] for tool in result["tools"]])
        if "nextCursor" not in result:
            return pages
        cursor = {"cursor": result["nextCursor"]}


@pytest.mark.parametrize(
    ("size", "pages"),
    [
        (None, [["c", "a", "e", "b", "d"]]),
        (1, [["c"], ["a"], ["e"], ["b"], ["d"]]),
        (2, [["c", "a"], ["e", "b"], ["d"]]),
        (5, [["c", "a", "e", "b", "d"]]),
        (9, [["c", "a", "e", "b", "d"]]),
    ],
)
def test_cursors_lead_through_every_tool_once_in_the_order_of_the_urlconf(five, size, pages):
    agent = five(**({"TOOLS_PAGE_SIZE": size} if size else {}))
    assert pages_of(agent) == pages_of(agent) == pages


class Asked(BasePermission):
    paths: list[str] = []

    def has_permission(self, request, view) -> bool:
        self.paths.append(request.path)
        return request.path != "/b/"


def test_a_page_asks_the_permissions_of_its_own_tools_only(expose, monkeypatch):
    """And of the one that tells whether another page follows."""
    monkeypatch.setattr(Asked, "paths", [])
    expose(
        *(path(f"{name}/", Word.as_view(permission_classes=[Asked])) for name in "abcdef"),
        TOOLS_PAGE_SIZE=2,
    )
    agent = Agent(Client())
    assert pages_of(agent) == [["a", "c"], ["d", "e"], ["f"]]
    Asked.paths.clear()
    agent.result("tools/list")
    assert Asked.paths == ["/a/", "/b/", "/c/", "/d/"]


def test_a_null_cursor_asks_for_the_first_page(five):
    agent = five(TOOLS_PAGE_SIZE=2)
    message, headers = agent.frame("tools/list", {"cursor": None})
    answer = json.loads(agent.post(message, headers).content)
    assert [tool["name"] for tool in answer["result"]["tools"]] == ["c", "a"]


def test_a_cursor_that_names_a_tool_no_longer_listed_is_refused(five):
    cursor = base64.urlsafe_b64encode(b"gone").decode()
    error = five(TOOLS_PAGE_SIZE=2).error("tools/list", cursor=cursor)
    assert (error["code"], error["message"]) == (-32602, "Invalid cursor.")


# --- Caching ------------------------------------------------------------------------------


def test_a_list_that_depends_on_the_caller_is_private(subtests, expose):
    for view in [StaffOnly, AskedAnew]:
        with subtests.test(view=view):
            expose(path("word/", Word.as_view()), path("other/", view.as_view()))
            agent = Agent(Client())
            assert agent.result("tools/list")["cacheScope"] == "private"
            assert list(agent.tools()) == ["word"]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_list_of_a_closed_endpoint_is_private(agent_of):
    assert agent_of("alice").result("tools/list")["cacheScope"] == "private"


def test_a_list_may_be_kept_for_a_minute(subtests, expose):
    for method in ["tools/list", "server/discover"]:
        with subtests.test(method=method):
            expose()
            assert Agent(Client()).result(method)["ttlMs"] == 60_000


# --- Definitions --------------------------------------------------------------------------


def test_a_definition_says_everything_that_clients_ask_for(expose):
    expose(path("word/", Word.as_view()))
    tool = Agent(Client()).tools()["word"]
    assert (tool["name"], tool["title"]) == ("word", "Word")
    assert tool["description"] == "Repeat a word."
    assert tool["inputSchema"] == {
        "type": "object",
        # Of an answer that is not known before, any field may be asked for.
        "properties": {
            "fields": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only these fields of the answer.",
            }
        },
        "additionalProperties": False,
    }
    assert tool["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def test_output_schemas_can_be_switched_on(expose):
    expose(path("word/", Word.as_view()), OUTPUT_SCHEMA="envelope")
    agent = Agent(Client())
    assert agent.tools()["word"]["outputSchema"]["type"] == "object"
    assert "structuredContent" in agent.call("word").raw


def test_output_schemas_are_off_by_default(expose):
    expose(path("word/", Word.as_view()))
    agent = Agent(Client())
    assert "outputSchema" not in agent.tools()["word"]
    assert "structuredContent" in agent.call("word").raw


def test_a_tool_that_cannot_be_described_is_listed_and_works(expose):
    expose(path("broken/", Broken.as_view()), path("word/", Word.as_view()))
    agent = Agent(Client())
    assert list(agent.tools()) == ["broken", "word"]
    assert agent.call("broken").data == {}


class Thing(models.Model):  # noqa: DJ008 - never stored
    class Meta:
        app_label = "tests"
        managed = False
        verbose_name = gettext_lazy("Delete")


class ThingSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ["id"]


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.none()
    serializer_class = ThingSerializer
    permission_classes = []


def test_a_list_reads_the_same_whoever_asks_first(expose):
    router = SimpleRouter()
    router.register("things", Things)
    lists = []
    for language in ("de", "en"):
        expose(*router.urls)
        with translation.override(language):
            lists.append(list_with(Agent(Client()), language))
    assert lists[0] == lists[1]


def list_with(agent: Agent, language: str) -> list:
    message, headers = agent.frame("tools/list", {})
    response = agent.post(message, {**headers, "Accept-Language": language})
    return json.loads(response.content)["result"]["tools"]


def test_a_listing_introspects_each_view_once(expose, monkeypatch):
    asked = []

    class Counted(generics.ListAPIView):
        permission_classes = []

        def get_queryset(self):
            asked.append(self)
            return Thing.objects.none()

        serializer_class = ThingSerializer

    expose(path("counted/", Counted.as_view()))
    agent = Agent(Client())
    agent.result("tools/list")
    first = len(asked)
    agent.result("tools/list")
    Agent(Client(), revision="2025-06-18").result("tools/list")
    assert len(asked) == first > 0


# --- Envelopes ----------------------------------------------------------------------------


def test_the_default_envelope_is_response_v2_in_both_channels(subtests, expose):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            expose(path("word/", Word.as_view()))
            result = Agent(Client(), revision=revision).call("word")
            assert (result.envelope["success"], result.data) == (True, {"word": "hello"})
            (block,) = result.raw["content"]
            assert json.loads(block["text"]) == result.raw.get("structuredContent", result.envelope)


def test_an_endpoint_chooses_its_envelope_over_the_setting(expose, settings):
    expose(path("word/", Word.as_view()), ENVELOPE_CLASS=StatusEnvelope)
    settings.ROOT_URLCONF.urlpatterns.append(
        path("plain", MCPView.as_view(envelope_class=OkEnvelope))
    )
    registry.reload()
    assert Agent(Client(), path="/plain").call("word").envelope["ok"] is True
    assert Agent(Client()).call("word").envelope["status"] == "success"


def test_a_tool_chooses_its_envelope_over_the_endpoint(expose, settings):
    expose(path("ok/", Ok.as_view()), path("word/", Word.as_view()))
    settings.ROOT_URLCONF.urlpatterns.append(
        path("status", MCPView.as_view(envelope_class=StatusEnvelope))
    )
    registry.reload()
    agent = Agent(Client(), path="/status")
    assert agent.call("ok").envelope["ok"] is True
    assert agent.call("word").envelope["status"] == "success"


def test_the_plain_envelope_is_text_alone_in_every_revision(subtests, expose):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            expose(
                path("word/", Word.as_view()), ENVELOPE_CLASS=PlainEnvelope, OUTPUT_SCHEMA="full"
            )
            agent = Agent(Client(), revision=revision)
            assert "outputSchema" not in agent.tools()["word"]
            raw = agent.call("word").raw
            assert "structuredContent" not in raw
            assert json.loads(raw["content"][0]["text"]) == {"word": "hello"}


class AsAdmin(BaseAuthentication):
    def authenticate(self, request) -> tuple:
        return get_user_model().objects.get(username="admin"), None


class OwnIdentity(StaffOnly):
    """Repeat a word to whoever it takes for staff."""

    authentication_classes = [AsAdmin]


class FoundIdentity(StaffOnly):
    """Repeat a word to whoever it finds to be staff."""

    def get_authenticators(self) -> list:
        return [AsAdmin()]


class Lenient(StaffOnly):
    """Repeat a word to everybody, although it asks."""

    def permission_denied(self, request, message=None, code=None) -> None:
        return None


@pytest.fixture
def alike(expose):
    expose(
        *(path(f"{name}/", StaffOnly.as_view()) for name in ("first", "second", "third")),
        path("anybody/", StaffOnly.as_view(permission_classes=[AllowAny])),
        path("own/", OwnIdentity.as_view()),
        path("found/", FoundIdentity.as_view()),
        path("lenient/", Lenient.as_view()),
        AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"],
    )


OPEN = {"anybody", "own", "found", "lenient"}


@pytest.mark.parametrize(
    ("username", "seen"), [("alice", OPEN), ("carol", {*OPEN, "first", "second", "third"})]
)
def test_tools_that_ask_the_same_have_one_answer_and_others_their_own(
    alike, agent_of, username, seen
):
    assert set(agent_of(username).tools()) == seen


def test_tools_that_ask_the_same_are_asked_once(alike, agent_of, monkeypatch):
    asked = []

    def has_permission(self, request, view) -> bool:
        asked.append(request.user.username)
        return True

    monkeypatch.setattr(IsAdminUser, "has_permission", has_permission)
    agent_of("alice").result("tools/list")
    # Of three alike, one; of Lenient, one; of those who take everybody for staff, one each.
    assert sorted(asked) == ["admin", "admin", "alice", "alice"]
