"""The parts of a definition are freed when the tool is listed, and made again for a call."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from drf_mcp.protocol import ERAS
from drf_mcp.test import MCPClient
from drf_mcp.tools import registry
from tests.tools.kept_urls import GroupViewSet

pytestmark = pytest.mark.django_db


class Groups(GroupViewSet):
    permission_classes = ()


@pytest.fixture
def groups(expose):
    router = SimpleRouter()
    router.register("groups", Groups)
    expose(path("", include(router.urls)))
    return registry.tools()


def test_a_listed_tool_keeps_neither_schema_nor_view(groups):
    MCPClient().list_tools()
    for tool in groups.values():
        kept = {"view", "schema", "arguments", "input_schema"} & {*vars(tool)}
        assert not kept


def test_a_listed_tool_can_be_called_and_refuses_unknown_arguments(groups):
    client = MCPClient()
    client.list_tools()
    assert client.call_tool("groups_create", {"name": "editors"}).data["name"] == "editors"
    refused = client.call_tool("groups_create", {"nam": "editors"})
    assert refused.is_error
    assert Group.objects.count() == 1


def test_what_a_call_made_is_kept_for_the_next_call(groups):
    client = MCPClient()
    client.list_tools()
    client.call_tool("groups_list")
    arguments = groups["groups_list"].arguments
    client.list_tools()
    client.call_tool("groups_list")
    assert groups["groups_list"].arguments is arguments


@pytest.mark.parametrize("revision", ERAS)
def test_a_revision_lists_the_same_before_and_after_other_revisions(groups, revision):
    alone = MCPClient(revision=revision).list_tools()
    registry.reload()
    for other in ERAS:
        if other != revision:
            MCPClient(revision=other).list_tools()
    assert MCPClient(revision=revision).list_tools() == alone
