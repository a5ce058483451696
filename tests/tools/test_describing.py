"""Only the tools of one page are described, and none before a client lists or calls them."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import Group
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.routers import SimpleRouter

from drf_mcp.introspection import Describer
from drf_mcp.protocol import REVISIONS, select_by_headers
from drf_mcp.server import Server
from drf_mcp.tools import registry
from drf_mcp.tools.capability import ToolsCapability
from drf_mcp.transports.in_process import InProcessClient

pytestmark = pytest.mark.django_db


class CountingDescriber(Describer):
    described: list[str] = []

    def describe(self):
        self.described.append(self.inspection.view.basename)
        return super().describe()


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class GroupViewSet(viewsets.ModelViewSet):
    serializer_class = GroupSerializer
    permission_classes = ()
    basenames: list[str] = []

    def get_queryset(self):
        self.basenames.append(self.basename)
        return Group.objects.all()


@pytest.fixture
def described(expose):
    """Serve ten view sets with get_queryset(); returns the basenames of described endpoints."""
    CountingDescriber.described.clear()
    GroupViewSet.basenames.clear()
    router = SimpleRouter()
    for number in range(10):
        view_class = type(f"Number{number}ViewSet", (GroupViewSet,), {})
        router.register(f"groups{number}", view_class, basename=f"groups{number}")
    expose(path("", include(router.urls)), DESCRIBER_CLASS=CountingDescriber, TOOLS_PAGE_SIZE=12)
    return CountingDescriber.described


def send(method, **params):
    return InProcessClient(revision="2025-11-25").send(method, params)["result"]


@pytest.mark.slow
def test_a_page_describes_only_its_own_tools(described):
    first = send("tools/list")
    assert len(first["tools"]) == 12
    assert sorted(set(described)) == ["groups0", "groups1"]
    assert len(described) == 12
    send("tools/list", cursor=first["nextCursor"])
    assert sorted(set(described)) == ["groups0", "groups1", "groups2", "groups3"]


def test_get_queryset_runs_at_most_twice_for_each_tool(described):
    # Once to find the model, and once to describe the arguments.
    send("tools/list")
    assert 6 <= GroupViewSet.basenames.count("groups0") <= 12


def test_initialize_describes_no_tool(described):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
    client = {"clientInfo": {"name": "test", "version": "1"}}
    assert "groups0" in send("initialize", **hello, **client)["instructions"]
    assert described == GroupViewSet.basenames == []


def test_a_call_describes_only_its_own_tool(described):
    assert "isError" not in send("tools/call", name="groups3_list", arguments={})
    assert described == ["groups3"]


@pytest.mark.slow
def test_a_tool_is_described_once_for_all_threads(described):
    era, lists = select_by_headers({"mcp-protocol-version": REVISIONS[0]}), []

    def list_all():
        capability, tools = ToolsCapability(Server(registry)), registry.tools().values()
        lists.append([capability.get_definition(tool, era) for tool in tools])

    threads = [threading.Thread(target=list_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    list_all()
    assert lists == [lists[0]] * 5
    assert len(described) == len(lists[0]) == 60
