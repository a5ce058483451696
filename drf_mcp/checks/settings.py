from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from django import get_version
from django.apps import apps
from django.conf import global_settings as defaults
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.checks import CheckMessage, Error, Warning
from django.db import connections, router
from django.utils.module_loading import import_string
from rest_framework.settings import api_settings

from drf_mcp.calls.results import choose_envelope_class
from drf_mcp.checks.project import Project, register_check
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import attempt
from drf_mcp.models import ArchivedChunk
from drf_mcp.option_types.spelling import join_names
from drf_mcp.settings import mcp_settings
from drf_mcp.stored import Archive, CacheArchive, DatabaseArchive, can_archive
from drf_mcp.truncation import Digester

# The methods that a subclass has to define, by the base class.
METHODS: Mapping[type, tuple[str, ...]] = {
    Envelope: ("render",),
    Digester: ("condense",),
    Archive: ("store", "read", "latest"),
}


@register_check()
def check_classes(project: Project) -> Iterator[CheckMessage]:
    chosen = [
        *(mcp_settings.ENVELOPE_CLASS, mcp_settings.DIGESTER_CLASS, mcp_settings.ARCHIVE_CLASS),
        *(endpoint.view.envelope_class for endpoint in project.endpoints),
        *(tool.options.envelope_class for tool in project.tools.values()),
    ]
    for own in dict.fromkeys(filter(None, chosen)):
        base = next(each for each in METHODS if issubclass(own, each))
        faults = [f"has no {m}()." for m in METHODS[base] if getattr(own, m) is getattr(base, m)]
        if base is Envelope:
            schema: Any = attempt(lambda own=own: own().schema({}), otherwise=lambda exc: exc)  # type: ignore[misc]
            if isinstance(schema, Exception):
                faults.append(f"cannot state its schema({{}}): {type(schema).__name__}: {schema}")
            elif schema is not None and schema.get("type") != "object":
                faults.append('gives a schema whose root is not {"type": "object"}.')
        for fault in faults:
            hint = "See docs/envelopes.md, docs/large_results.md and docs/customising.md."
            yield Error(f"{own.__name__} {fault}", hint=hint, id="drf_mcp.E003")


@register_check()
def check_tables(project: Project) -> Iterator[CheckMessage]:
    views = [endpoint.view for endpoint in project.endpoints]
    everywhere = [view for view in views if (view.tool_options or {}).get("tabular")]
    for tool in project.tools.values():
        shown = views if tool.options.tabular else everywhere
        chosen = {choose_envelope_class(tool, view.envelope_class) for view in shown}
        lacking = sorted(each.__name__ for each in chosen if not each.has_tables)
        reason = f"the contract of {lacking[0]} has none" if lacking else ""
        renderers = getattr(tool.endpoint.view_class, "renderer_classes", ())
        if shown and any(getattr(each, "renders_envelope", False) for each in renderers):
            reason = "its renderer gives plain HTTP the same body"
        if reason:
            yield Error(
                f"{tool.name} cannot have tabular=True: {reason}.",
                hint="See docs/large_results.md.",
                id="drf_mcp.E022",
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


# Cache backends that are no archive for several processes, and why.
UNSHARED: dict[type, str] = {
    DummyCache: "keeps nothing",
    LocMemCache: "belongs to one process: other workers cannot read it",
}


def _archives_in(archive_class: type[Archive]) -> bool:
    return can_archive() and issubclass(mcp_settings.ARCHIVE_CLASS, archive_class)


@register_check(deploy=True)
def check_archive_cache(project: Project) -> Iterator[CheckMessage]:
    if not _archives_in(CacheArchive):
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
                "DRF_MCP['ARCHIVE_CLASS'] to 'drf_mcp.stored.DatabaseArchive'.",
                id="drf_mcp.W007",
            )


@register_check()
def check_archive_shares_no_cache(project: Project) -> Iterator[CheckMessage]:
    if not _archives_in(CacheArchive):
        return
    # A full cache drops entries: content, counts of throttles, or sessions.
    alias, users = mcp_settings.ARCHIVE_CACHE, []
    if "cache" in settings.SESSION_ENGINE and alias == settings.SESSION_CACHE_ALIAS:
        users.append("sessions")
    views = (tool.endpoint.view_class for tool in project.tools.values())
    own = (throttle for view in views for throttle in getattr(view, "throttle_classes", ()))
    throttles = [*api_settings.DEFAULT_THROTTLE_CLASSES, *own]
    # The proxy that REST framework's throttles hold equals its cache.
    if any(caches[alias] == getattr(throttle, "cache", None) for throttle in throttles):
        users.append("throttles")
    for user in users:
        yield Error(
            f"Content that does not fit into results is archived in the cache {alias!r}, which "
            f"{user} use too: when the cache is full, their entries are dropped.",
            hint="Name a separate cache in DRF_MCP['ARCHIVE_CACHE'], or leave "
            "DRF_MCP['ARCHIVE_CLASS'] out: by default content is kept in the database.",
            id="drf_mcp.E006",
        )


# Not a check of databases: those run before each migrate.
@register_check(deploy=True)
def check_archive_tables(project: Project) -> Iterator[CheckMessage]:
    if not _archives_in(DatabaseArchive):
        return
    connection = connections[router.db_for_write(ArchivedChunk)]
    # A check may run without a database.
    tables = attempt(connection.introspection.table_names, None)
    if tables is not None and ArchivedChunk._meta.db_table not in tables:
        yield Warning(
            "The tables of the archive are missing: long results are "
            "shortened, and nothing can be fetched back.",
            hint="Run manage.py migrate.",
            id="drf_mcp.W015",
        )


# Settings of Django 4, with what replaces each.
REPLACED = {
    "DEFAULT_FILE_STORAGE": "STORAGES",
    "STATICFILES_STORAGE": "STORAGES",
    "PASSWORD_RESET_TIMEOUT_DAYS": "PASSWORD_RESET_TIMEOUT",
}


@register_check()
def check_project_settings(project: Project) -> Iterator[CheckMessage]:
    if not all(isinstance(host, str) and host for host in settings.ALLOWED_HOSTS):
        yield Warning(
            f"ALLOWED_HOSTS is {settings.ALLOWED_HOSTS!r}: it has a value that is no host.",
            hint="Set the environment variable that it is read from, or take the value away.",
            id="drf_mcp.W037",
        )
    gone = [name for name in REPLACED if hasattr(settings, name) and not hasattr(defaults, name)]
    if gone:
        new = [f"{REPLACED[name]} instead of {name}" for name in gone]
        yield Warning(
            f"Django {get_version()} does not read the settings {join_names(gone)}.",
            hint=f"Set {join_names(new)}.",
            id="drf_mcp.W039",
        )


@register_check()
def check_registering_modules(project: Project) -> Iterator[CheckMessage]:
    modules = [endpoint.view_class.__module__ for endpoint in project.rest_endpoints]
    packages: dict[str, None] = {}
    for module in (str(settings.ROOT_URLCONF), *modules):
        while "." in module:
            module = module.rpartition(".")[0]
            packages.setdefault(module)
    for package in packages:
        name = f"{package}.mcp"
        if name not in sys.modules and attempt(lambda name=name: find_spec(name), None):  # type: ignore[misc]
            yield Warning(
                f"{name} is not imported, because {package} is not in INSTALLED_APPS.",
                hint=f'Add "{package}" to INSTALLED_APPS, or import the module in the URLconf.',
                id="drf_mcp.W038",
            )
