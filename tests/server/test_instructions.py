"""Instructions that are written from the tools of the caller."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAdminUser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.calls.summaries import MAX_INSTRUCTIONS, write_instructions
from drf_mcp.exposure import Registry
from tests.agents import STATELESS, Agent
from tests.server.views import Word


class NameSerializer(serializers.Serializer):
    name = serializers.CharField()


class Plants(viewsets.ViewSet):
    permission_classes = []
    serializer_class = NameSerializer

    def list(self, request):
        return Response([])

    @action(detail=True, methods=["post"])
    def water(self, request, pk=None): ...


class Secrets(Plants):
    permission_classes = [IsAdminUser]


@pytest.fixture
def served_instructions(expose):
    def instructions(*patterns, client: Client | None = None, **mcp_settings) -> str | None:
        expose(*patterns, **mcp_settings)
        agent = Agent(client or Client(), revision=STATELESS)
        return agent.result("server/discover").get("instructions")

    return instructions


def routes(**viewsets_by_name):
    router = SimpleRouter()
    for name, viewset in viewsets_by_name.items():
        router.register(name, viewset, basename=name)
    return router.urls


def test_instructions_name_what_tools_are_about_and_not_their_actions(served_instructions):
    text = served_instructions(*routes(plants=Plants), path("word/", Word.as_view()))
    assert text.startswith("3 tools, about: plants, word.\n")
    assert "such as plants_list" in text


def test_instructions_name_no_tool_that_the_caller_may_not_call(served_instructions, admin_client):
    patterns = routes(plants=Plants, secrets=Secrets)
    assert "secrets" not in served_instructions(*patterns)
    assert "plants, secrets." in served_instructions(*patterns, client=admin_client)


@pytest.mark.parametrize("on", [True, False])
def test_instructions_explain_fields_if_tools_take_the_argument(served_instructions, on):
    assert ("`fields`" in served_instructions(*routes(plants=Plants), FIELDS_ARGUMENT=on)) is on


def tools_of(settings, *patterns):
    settings.DRF_MCP = {"EXPOSE": "urlconf", "ARCHIVE_CLASS": None}
    urlconf = type("URLConf", (), {"urlpatterns": list(patterns)})
    return Registry().tools(urlconf)


class NamedTool:
    """The attributes of a tool that instructions read."""

    takes_fields = True

    def __init__(self, name: str, standard_action: str) -> None:
        self.name = name
        self.endpoint = type("Endpoint", (), {"standard_action": standard_action})


words = st.from_regex(r"[a-z][a-z0-9_]{0,40}", fullmatch=True)


@given(st.lists(st.tuples(words, st.sampled_from(["list", "sort", ""])), max_size=400))
def test_instructions_are_never_longer_than_clients_accept(named):
    tools = [NamedTool(f"{noun}_{action}" if action else noun, action) for noun, action in named]
    assert len(write_instructions(tools)) <= MAX_INSTRUCTIONS


def test_many_groups_are_named_and_the_rest_is_counted(subtests):
    for groups, rest in [(90, ""), (1000, "more.")]:
        with subtests.test(groups=groups, rest=rest):
            tools = [
                NamedTool(f"noun{number}_{action}", action)
                for number in range(groups)
                for action in ("list", "retrieve", "create", "destroy")
            ]
            first, _ = write_instructions(tools).split("\n")
            assert first.startswith(f"{len(tools)} tools, about: noun0, noun1, ")
            assert first.endswith(rest or "noun89.")
