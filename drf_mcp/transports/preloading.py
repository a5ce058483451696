"""Describes tools before the first request, for servers that fork their workers."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass

from django.core.cache import close_caches
from django.db import connections

from drf_mcp.access.resources import WellKnownConverter
from drf_mcp.introspection.source.overrides import forget_trees
from drf_mcp.option_types.installed import features
from drf_mcp.protocol import ERAS
from drf_mcp.transports.in_process import make_server
from drf_mcp.transports.local_endpoint import LocalEndpoint


@dataclass(frozen=True)
class PreloadedEndpoint:
    """The tools of one endpoint, described.

    Attributes:
        path: the path of the endpoint.
        tools: the number of tools.
        bytes: the size of their definitions in one revision.
        seconds: how long it took.
    """

    path: str
    tools: int
    bytes: int
    seconds: float


def preload() -> list[PreloadedEndpoint]:
    """Describe the tools of every endpoint now, for the processes that are forked afterwards.

    Connections to databases and caches that this thread has opened are closed, so that no two
    processes share one.

    Raises:
        ImproperlyConfigured: if the tools cannot be read off the URLconf.
    """
    found = describe_endpoints()
    close_what_is_open()
    forget_trees()
    # Processes share memory until one writes into it, as a collection would.
    gc.collect()
    gc.freeze()
    return found


def describe_endpoints() -> list[PreloadedEndpoint]:
    """Describe the tools of every endpoint of the URLconf; without any, those of stdio."""
    every = [LocalEndpoint(found.path) for found in WellKnownConverter().find_every()]
    return [describe_endpoint(endpoint) for endpoint in every or [LocalEndpoint()]]


def describe_endpoint(endpoint: LocalEndpoint) -> PreloadedEndpoint:
    started = time.perf_counter()
    server, size = make_server(endpoint), 0
    capability, tools = server.tools_capability, endpoint.tools
    for tool in tools.values():
        size += max(len(capability.get_definition(tool, era)) for era in ERAS.values())
    for feature in features.hooks["prepare_endpoint"]:
        feature.prepare_endpoint(server, tools)
    seconds = round(time.perf_counter() - started, 3)
    return PreloadedEndpoint(endpoint.path, len(tools), size, seconds)


def close_what_is_open() -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        # A pool has threads, which no forked process has.
        if hasattr(connection, "close_pool"):
            connection.close_pool()
    close_caches()
