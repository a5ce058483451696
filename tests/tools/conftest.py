"""Tools of the URL patterns of a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from drf_mcp.exposure import Registry, Tool
from drf_mcp.stored import retrieval


def urlconf_of(patterns) -> type:
    return type("URLConf", (), {"urlpatterns": list(patterns)})


@pytest.fixture
def tools_of(settings) -> Callable[..., Mapping[str, Tool]]:
    """Returns the tools of URL patterns, of which each DRF endpoint is exposed."""

    def tools(*patterns, **mcp_settings) -> Mapping[str, Tool]:
        # PUT is no tool where PATCH is one, unless it is named.
        options = {"EXPOSE": "urlconf", "INCLUDE": ["*", "PUT *"], **mcp_settings}
        settings.DRF_MCP = options
        return Registry().tools(urlconf_of(patterns))

    return tools


@pytest.fixture
def exposed(settings) -> Callable[..., list[str]]:
    """Returns the names of the tools of URL patterns, of which only declared ones are exposed."""
    settings.DRF_MCP = {}

    def names(*patterns, registry: Registry | None = None) -> list[str]:
        return list((registry or Registry()).tools(urlconf_of(patterns)))

    return names


@pytest.fixture
def tool_of(tools_of):
    def tool(pattern, name: str | None = None, **mcp_settings):
        tools = tools_of(pattern, **mcp_settings)
        return tools[name] if name else next(iter(tools.values()))

    return tool


@pytest.fixture(autouse=True)
def tools_of_routes(monkeypatch, request) -> None:
    """Serve no tool besides those of routes, which the tests of this folder compare."""
    if "untrusted" not in request.module.__name__:
        monkeypatch.setattr(retrieval, "can_archive", lambda: False)
