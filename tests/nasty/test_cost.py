"""Descriptions are made once, when they are asked for."""

from __future__ import annotations

import threading

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from drf_mcp.introspection import Describer
from drf_mcp.protocol import REVISIONS, select_by_headers
from drf_mcp.server import Server
from drf_mcp.tools import registry
from drf_mcp.tools.capability import ToolsCapability
from tests.nasty import annotated, fields, views

ERA = select_by_headers({"mcp-protocol-version": REVISIONS[0]})


def many(copies):
    router = SimpleRouter()
    router.register("sets", views.Sets, basename="set")
    api = [
        path("", include(router.urls)),
        *(path(f"e{n}/", views.echo(c)) for n, c in enumerate([fields.Scalars, fields.Order])),
        path("painted/", annotated.PaintedEcho.as_view()),
        path("groups/", views.Groups.as_view(pagination_class=views.Numbered)),
    ]
    return [path(f"copy{n}/", include(api)) for n in range(copies)]


def list_all():
    capability = ToolsCapability(Server(registry))
    for tool in registry.tools().values():
        capability.get_definition(tool, ERA)


def test_a_tool_is_described_once_for_all_threads(expose, monkeypatch):
    described, describe = [], Describer.describe
    monkeypatch.setattr(Describer, "describe", lambda self: described.append(1) or describe(self))
    expose(*many(3))
    threads = [threading.Thread(target=list_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(described) == len(registry.tools())
