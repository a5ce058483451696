"""drf_mcp: the example unchanged, or every route of the generated project."""

from __future__ import annotations

from typing import Any

from django.urls import path

import drf_mcp
from benchmarks.peers.doors import base
from drf_mcp.views import MCPView


class Door(base.Door):
    version = drf_mcp.__version__

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return [path("mcp", MCPView.as_view())]
