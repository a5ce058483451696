"""preload() describes the tools once, before a server forks its workers."""

from __future__ import annotations

import gc
import json
import os
import warnings

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.routers import SimpleRouter

import drf_mcp
from drf_mcp.describers import Describer
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint
from drf_mcp.views import MCPView


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class GroupViewSet(viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    authentication_classes = ()
    permission_classes = ()


class CountingDescriber(Describer):
    described: list[str] = []

    def describe(self):
        self.described.append(self.inspection.place)
        return super().describe()


@pytest.fixture
def groups(expose):
    CountingDescriber.described.clear()
    router = SimpleRouter()
    router.register("groups", GroupViewSet)
    reading = path("mcp/readonly", MCPView.as_view(read_only=True))
    expose(
        path("", include(router.urls)),
        reading,
        DESCRIBER_CLASS=CountingDescriber,
        AUTHENTICATION_CLASSES=[],
    )
    yield
    gc.unfreeze()


def list_tools(revision: str, path: str = "/mcp") -> list[str]:
    client = InProcessClient(revision=revision, endpoint=LocalEndpoint(path))
    return [tool["name"] for tool in client.send("tools/list", {})["result"]["tools"]]


def run_in_fork(step):
    """Return the answer of a step that runs in a forked process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, none of which is used in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(step()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def test_every_endpoint_is_described_once(groups):
    found = {each.path: each for each in drf_mcp.preload()}
    assert {path: each.tools for path, each in found.items()} == {"/mcp": 6, "/mcp/readonly": 2}
    assert found["/mcp"].bytes > 2000 > found["/mcp/readonly"].bytes > 0
    # A view has the same description at an endpoint with fewer tools.
    assert len(CountingDescriber.described) == 6


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-06-18"])
def test_a_forked_process_describes_nothing_for_its_first_list(groups, revision):
    drf_mcp.preload()
    CountingDescriber.described.clear()

    def answer():
        return [list_tools(revision), list_tools(revision, "/mcp/readonly"), len(counted)]

    counted = CountingDescriber.described
    every, reading, described = run_in_fork(answer)
    assert (len(every), len(reading), described) == (6, 2, 0)


def test_connections_of_the_parent_are_closed(groups, tmp_path, django_db_blocker):
    databases = connections.databases
    databases["file"] = databases["default"] | {"NAME": str(tmp_path / "rows.sqlite3")}
    databases["file"]["ENGINE"] = "django.db.backends.sqlite3"
    try:
        with django_db_blocker.unblock():
            connections["file"].ensure_connection()
            assert connections["file"].connection is not None
            drf_mcp.preload()
        assert connections["file"].connection is None
    finally:
        del connections["file"], databases["file"]


def test_pools_of_the_parent_are_closed(groups, monkeypatch):
    closed = []
    pooled = connections["default"]
    monkeypatch.setattr(pooled, "close_pool", lambda: closed.append(True), raising=False)
    drf_mcp.preload()
    assert closed == [True]


def test_without_an_endpoint_the_tools_of_stdio_are_described(groups, settings):
    urlpatterns = settings.ROOT_URLCONF.urlpatterns
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urlpatterns[1:-1]})
    assert [each.tools for each in drf_mcp.preload()] == [6]


def test_wrong_settings_are_an_error_of_preload(groups, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "EXPOSE": "everything"}
    with pytest.raises(ImproperlyConfigured):
        drf_mcp.preload()
