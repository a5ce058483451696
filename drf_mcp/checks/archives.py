from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.checks import CheckMessage, Error, Info, Warning
from django.db import connections, router
from django.utils.module_loading import import_string
from rest_framework.settings import api_settings

from drf_mcp.archive import Archive, CacheArchive, DatabaseArchive, can_archive
from drf_mcp.checks.project import Project, register_check
from drf_mcp.dispatch.stored_answers import (
    HOOKS,
    has_own_handler,
    keeps_answers,
    shows_fields_by_caller,
)
from drf_mcp.exceptions import contain
from drf_mcp.models import ArchivedChunk
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool

# Cache backends that are no archive for several processes, and why.
UNSHARED: dict[type, str] = {
    DummyCache: "keeps nothing",
    LocMemCache: "belongs to one process: other workers cannot read it",
}
# How many names a message has.
MAX_NAMES = 10


def archives_in(archive_class: type[Archive]) -> bool:
    return can_archive() and issubclass(mcp_settings.ARCHIVE_CLASS, archive_class)


@register_check(deploy=True)
def check_archive_cache(project: Project) -> Iterator[CheckMessage]:
    if not archives_in(CacheArchive):
        return
    alias = mcp_settings.ARCHIVE_CACHE
    backend = settings.CACHES[alias]["BACKEND"]
    backend_class = import_string(backend) if isinstance(backend, str) else backend
    for unshared, trouble in UNSHARED.items():
        if issubclass(backend_class, unshared):
            yield Warning(
                f"Content that does not fit into results is archived in the cache {alias!r}, which "
                f"{trouble}.",
                hint="Name a cache that all processes share in DRF_MCP['ARCHIVE_CACHE'], or set "
                "DRF_MCP['ARCHIVE_CLASS'] to 'drf_mcp.archive.DatabaseArchive'.",
                id="drf_mcp.W007",
            )


@register_check()
def check_archive_shares_no_cache(project: Project) -> Iterator[CheckMessage]:
    if not archives_in(CacheArchive):
        return
    # A full cache drops entries: content, counts of throttles or sessions are lost.
    alias = mcp_settings.ARCHIVE_CACHE
    for user in dict.fromkeys(find_users_of_cache(project, alias)):
        yield Error(
            f"Content that does not fit into results is archived in the cache {alias!r}, which "
            f"{user} use too: when the cache is full, their entries are dropped.",
            hint="Name a separate cache in DRF_MCP['ARCHIVE_CACHE'], or leave "
            "DRF_MCP['ARCHIVE_CLASS'] out: by default content is kept in the database.",
            id="drf_mcp.E006",
        )


def find_users_of_cache(project: Project, alias: str) -> Iterator[str]:
    if "cache" in settings.SESSION_ENGINE and alias == settings.SESSION_CACHE_ALIAS:
        yield "sessions"
    throttles = [*api_settings.DEFAULT_THROTTLE_CLASSES]
    for tool in project.tools.values():
        throttles += getattr(tool.endpoint.view_class, "throttle_classes", ())
    for throttle in throttles:
        # The proxy that REST framework's throttles hold equals its cache.
        if caches[alias] == getattr(throttle, "cache", None):
            yield "throttles"


# Not among the checks of databases: those run before each migrate.
@register_check(deploy=True)
def check_archive_tables(project: Project) -> Iterator[CheckMessage]:
    if not archives_in(DatabaseArchive):
        return
    connection = connections[router.db_for_write(ArchivedChunk)]
    # A check may run without its database.
    tables = contain(connection.introspection.table_names, lambda exc: None)
    if tables is not None and ArchivedChunk._meta.db_table not in tables:
        yield Warning(
            "The tables of the archive are missing: long results are "
            "shortened, and nothing can be fetched back.",
            hint="Run manage.py migrate.",
            id="drf_mcp.W015",
        )


@register_check(deploy=True)
def check_stored_answers(project: Project) -> Iterator[CheckMessage]:
    if not can_archive():
        return
    names = sorted(name for name, tool in project.tools.items() if is_unasked(tool))
    if names:
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        yield Info(
            "What has no room in a result is kept for 15 minutes of tools whose own code alone "
            f"knows what a caller may read: {', '.join(names[:MAX_NAMES])}{more}.",
            hint="Where rights change that Django's users, groups and permissions do not show, "
            "define get_rights_fingerprint() or may_retrieve() on the view, or set archive=False. "
            "See docs/security.md.",
            id="drf_mcp.I002",
        )


def is_unasked(tool: Tool) -> bool:
    endpoint = tool.endpoint
    if endpoint.is_built_in or not keeps_answers(tool):
        return False
    if any(hasattr(endpoint.view_class, name) for name in HOOKS):
        return False
    return has_own_handler(endpoint) or shows_fields_by_caller(endpoint)
