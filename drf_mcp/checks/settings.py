from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.checks import CheckMessage, Error, Info, Warning
from django.db import connections, router
from django.utils.module_loading import import_string
from rest_framework.settings import api_settings

from drf_mcp.archive import Archive, CacheArchive, DatabaseArchive, can_archive
from drf_mcp.checks.project import Project, list_names, register_check
from drf_mcp.dispatch.stored_answers import (
    HOOKS,
    has_own_handler,
    keeps_answers,
    shows_fields_by_caller,
)
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import contain
from drf_mcp.models import ArchivedChunk
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import Digester

CONTRIB = "drf_mcp.contrib."
# Setting -> the class to derive from, and the methods that a class must have.
CLASSES: dict[str, tuple[type, tuple[str, ...]]] = {
    "DIGESTER_CLASS": (Digester, ("condense",)),
    "ARCHIVE_CLASS": (Archive, ("store", "read", "latest")),
}


@register_check(needs_settings=False)
def check_settings(project: Project) -> Iterator[CheckMessage]:
    hint = "Correct DRF_MCP in the settings."
    for message in project.setting_errors:
        yield Error(message, hint=hint, id="drf_mcp.E001")


@register_check()
def check_envelopes(project: Project) -> Iterator[CheckMessage]:
    candidates = [
        mcp_settings.ENVELOPE_CLASS,
        *(endpoint.view.envelope_class for endpoint in project.endpoints),
        *(tool.options.envelope_class for tool in project.tools.values()),
    ]
    hint = 'See docs/envelopes.md, "An envelope of your own".'
    for envelope_class in dict.fromkeys(filter(None, candidates)):
        for fault in find_envelope_faults(envelope_class):
            yield Error(f"{envelope_class.__name__} {fault}", hint=hint, id="drf_mcp.E003")


@register_check()
def check_fidelity_classes(project: Project) -> Iterator[CheckMessage]:
    for name, (base, methods) in CLASSES.items():
        named = getattr(mcp_settings, name)
        for method in methods if named is not None else ():
            if getattr(named, method) is getattr(base, method):
                yield Error(
                    f"DRF_MCP[{name!r}]: {named.__name__} has no method {method}().",
                    hint="See docs/large_results.md.",
                    id="drf_mcp.E005",
                )


@register_check()
def check_required_apps(project: Project) -> Iterator[CheckMessage]:
    for config in apps.get_app_configs():
        for name in getattr(config, "mcp_requires", ()):
            if not apps.is_installed(name):
                yield Error(
                    f"{config.name} needs {name}, which is not installed.",
                    hint=f"Add {name!r} to INSTALLED_APPS.",
                    id="drf_mcp.E018",
                )


@register_check()
def check_added_items(project: Project) -> Iterator[CheckMessage]:
    kinds = {type(item) for item in project.registry.find_added(object)}
    modules = {base.__module__ for kind in kinds for base in kind.__mro__}
    needed = {".".join(name.split(".")[:3]) for name in modules if name.startswith(CONTRIB)}
    for name in sorted(needed):
        if not apps.is_installed(name):
            yield Warning(
                f"What was added to the registry of {name} is served to no client.",
                hint=f"Add {name!r} to INSTALLED_APPS.",
                id="drf_mcp.W029",
            )


def find_envelope_faults(envelope_class: type[Envelope]) -> Iterator[str]:
    """Yield what an envelope class lacks, each as the end of a sentence that its name begins."""
    if envelope_class.render is Envelope.render:
        yield "has no render(outcome) method."
    schema: Any = contain(lambda: envelope_class().schema({}), lambda exc: exc)
    if isinstance(schema, Exception):
        yield f"cannot state its schema({{}}): {type(schema).__name__}: {schema}"
    elif schema is not None and (not isinstance(schema, Mapping) or schema.get("type") != "object"):
        yield 'gives a schema whose root is not {"type": "object"}.'
    elif schema is not None:
        try:
            from jsonschema import Draft202012Validator, SchemaError
        except ImportError:  # The package does not require it.
            return
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as exc:
            yield f"gives a schema that is not a JSON Schema: {exc.message}."


# Cache backends that are no archive for several processes, and why.
UNSHARED: dict[type, str] = {
    DummyCache: "keeps nothing",
    LocMemCache: "belongs to one process: other workers cannot read it",
}


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
        yield Info(
            "What has no room in a result is kept for 15 minutes of tools whose own code alone "
            f"knows what a caller may read: {list_names(names, 10)}.",
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
