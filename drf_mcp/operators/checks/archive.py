"""System checks of what fits results into their budget: the digester and the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.checks import CheckMessage, Error, Warning, register
from django.utils.module_loading import import_string

from drf_mcp.archive import Archive, CacheArchive, can_archive
from drf_mcp.operators.checks.settings import can_read_tools
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation import Digester

# Setting -> the class to derive from, and the methods that a class must have.
CLASSES: dict[str, tuple[type, tuple[str, ...]]] = {
    "DIGESTER_CLASS": (Digester, ("condense",)),
    "ARCHIVE_CLASS": (Archive, ("store", "read", "latest")),
}


@register("drf_mcp")
def check_fidelity_classes(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look at the digester and the archive, so that one lacking something shows before a call."""
    if not can_read_tools():
        return []
    return [
        Error(
            f"DRF_MCP[{name!r}]: {lack}",
            hint="See docs/large_results.md.",
            id="drf_mcp.E005",
        )
        for name, (base, methods) in CLASSES.items()
        for lack in lacks(getattr(mcp_settings, name), base, methods)
    ]


def lacks(used: Any, base: type, methods: Sequence[str]) -> Iterator[str]:
    """Yield what a class lacks to take the place of its base; None needs nothing."""
    for method in methods if used is not None else ():
        if getattr(used, method) is getattr(base, method):
            yield f"{used.__name__} has no method {method}()."


@register("drf_mcp", deploy=True)
def check_archive_cache(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look for archived content that other worker processes would not find."""
    if not can_read_tools() or not can_archive():
        return []
    archive, alias = mcp_settings.ARCHIVE_CLASS, mcp_settings.ARCHIVE_CACHE
    if not issubclass(archive, CacheArchive):
        return []
    trouble = cache_trouble(settings.CACHES[alias].get("BACKEND"))
    if not trouble:
        return []
    return [
        Warning(
            f"What results have no room for is archived in the cache {alias!r}, which {trouble}.",
            hint="Name a cache that all processes share in DRF_MCP['ARCHIVE_CACHE'], or set "
            "DRF_MCP['ARCHIVE_CLASS'] to 'drf_mcp.archive.DatabaseArchive'.",
            id="drf_mcp.W007",
        )
    ]


def cache_trouble(backend: Any) -> str:
    """Return why a cache is no archive for several processes, "" if it may be one."""
    backend_class = import_string(backend) if isinstance(backend, str) else backend
    if issubclass(backend_class, DummyCache):
        return "keeps nothing"
    if issubclass(backend_class, LocMemCache):
        return "belongs to one process: other workers do not find it"
    return ""
