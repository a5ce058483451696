"""``tools/list``: pages, order, caching and the members of a definition."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth import get_user_model
from django.db import models
from django.test import Client
from django.urls import path
from django.utils import translation
from django.utils.translation import gettext_lazy
from rest_framework import serializers, viewsets
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, IsAdminUser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, StatusEnvelope
from drf_mcp.exposure import mcp_tool, registry
from drf_mcp.views import MCPView
from tests.agents import REVISIONS, Agent
from tests.server.views import Word


class StaffOnly(Word):
    """Repeat a word to staff."""

    permission_classes = [IsAdminUser]


class StaffOnlyByMethod(Word):
    """Choose the permissions in a method."""

    def get_permissions(self) -> list:
        return [IsAdminUser()]


@mcp_tool(envelope_class=OkEnvelope)
class Ok(Word):
    """Have an envelope class."""


class Broken(APIView):
    """Have properties that raise."""

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
def serve_five_tools(expose):
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
def test_cursors_lead_through_every_tool_once_in_the_order_of_the_urlconf(
    serve_five_tools, size, pages
):
    agent = serve_five_tools(**({"TOOLS_PAGE_SIZE": size} if size else {}))
    assert pages_of(agent) == pages_of(agent) == pages


# --- Caching ------------------------------------------------------------------------------


def test_a_list_that_depends_on_the_caller_is_private(subtests, expose):
    for view in [StaffOnly, StaffOnlyByMethod]:
        with subtests.test(view=view):
            expose(path("word/", Word.as_view()), path("other/", view.as_view()))
            agent = Agent(Client())
            assert agent.result("tools/list")["cacheScope"] == "private"
            assert list(agent.tools()) == ["word"]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_list_that_needs_credentials_is_private(agent_of):
    assert agent_of("alice").result("tools/list")["cacheScope"] == "private"


# --- Definitions --------------------------------------------------------------------------


def test_a_definition_has_its_members(expose):
    expose(path("word/", Word.as_view()))
    tool = Agent(Client()).tools()["word"]
    assert (tool["name"], tool["title"]) == ("word", "Word")
    assert tool["description"] == "Repeat a word."
    assert tool["inputSchema"] == {
        "type": "object",
        # The fields of the response are not known, so a caller may name any field.
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


def test_the_list_does_not_depend_on_the_language_of_the_first_request(expose):
    router = SimpleRouter()
    router.register("things", Things)
    lists = []
    for language in ("de", "en"):
        expose(*router.urls)
        with translation.override(language):
            agent = Agent(Client())
            message, headers = agent.frame("tools/list", {})
            response = agent.post(message, {**headers, "Accept-Language": language})
            lists.append(response.json()["result"]["tools"])
    assert lists[0] == lists[1]


# --- Envelopes ----------------------------------------------------------------------------


def test_the_default_envelope_is_response_v2_in_text_and_structured_content(subtests, expose):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            expose(path("word/", Word.as_view()))
            result = Agent(Client(), revision=revision).call("word")
            assert (result.envelope["success"], result.data) == (True, {"word": "hello"})
            (block,) = result.raw["content"]
            assert json.loads(block["text"]) == result.raw.get("structuredContent", result.envelope)


def test_the_envelope_of_a_tool_has_precedence_over_that_of_the_endpoint(expose, settings):
    expose(path("ok/", Ok.as_view()), path("word/", Word.as_view()))
    settings.ROOT_URLCONF.urlpatterns.append(
        path("status", MCPView.as_view(envelope_class=StatusEnvelope))
    )
    registry.reload()
    agent = Agent(Client(), path="/status")
    assert agent.call("ok").envelope["ok"] is True
    assert agent.call("word").envelope["status"] == "success"


def test_the_plain_envelope_has_no_structured_content_in_any_revision(subtests, expose):
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


class AuthenticatedAsAdmin(StaffOnly):
    """Repeat a word to admin, whose identity an authentication class sets."""

    authentication_classes = [AsAdmin]


class AuthenticatedAsAdminByMethod(StaffOnly):
    """Repeat a word to admin, whose identity a method sets."""

    def get_authenticators(self) -> list:
        return [AsAdmin()]


class Lenient(StaffOnly):
    """Repeat a word although the permission is denied."""

    def permission_denied(self, request, message=None, code=None) -> None:
        return None


@pytest.fixture
def expose_equal_permissions(expose):
    expose(
        *(path(f"{name}/", StaffOnly.as_view()) for name in ("first", "second", "third")),
        path("anybody/", StaffOnly.as_view(permission_classes=[AllowAny])),
        path("own/", AuthenticatedAsAdmin.as_view()),
        path("found/", AuthenticatedAsAdminByMethod.as_view()),
        path("lenient/", Lenient.as_view()),
        AUTHENTICATION_CLASSES=["rest_framework.authentication.TokenAuthentication"],
    )


OPEN = {"anybody", "own", "found", "lenient"}


@pytest.mark.parametrize(
    ("username", "seen"), [("alice", OPEN), ("carol", {*OPEN, "first", "second", "third"})]
)
def test_each_tool_is_listed_by_its_own_permissions(
    expose_equal_permissions, agent_of, username, seen
):
    assert set(agent_of(username).tools()) == seen
