from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.checks import CheckMessage, Error, Warning
from django.db import connections, router
from django.utils.module_loading import import_string
from rest_framework.settings import api_settings

from drf_mcp.archive import Archive, CacheArchive, DatabaseArchive, can_archive
from drf_mcp.checks.project import Project, register_check
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import contain
from drf_mcp.models import ArchivedChunk
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation import Digester

# Setting -> the class to derive from, and the methods that a class must have.
CLASSES: dict[str, tuple[type, tuple[str, ...]]] = {
    "DIGESTER_CLASS": (Digester, ("condense",)),
    "ARCHIVE_CLASS": (Archive, ("store", "read", "latest")),
}
# Cache backends that are no archive for several processes, and why.
UNSHARED: dict[type, str] = {
    DummyCache: "keeps nothing",
    LocMemCache: "belongs to one process: other workers cannot read it",
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
        for fault in EnvelopeInspection(envelope_class).find_faults():
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


@register_check(deploy=True)
def check_archive_cache(project: Project) -> Iterator[CheckMessage]:
    archive_class = mcp_settings.ARCHIVE_CLASS
    if archive_class is None or not can_archive() or not issubclass(archive_class, CacheArchive):
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
    archive_class = mcp_settings.ARCHIVE_CLASS
    if archive_class is None or not can_archive() or not issubclass(archive_class, CacheArchive):
        return
    # An entry that a full cache drops loses content, counts of throttles or a session.
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
        # REST framework's throttles hold a proxy of the default cache, which equals the cache.
        if caches[alias] == getattr(throttle, "cache", None):
            yield "throttles"


# Not among the checks of databases: those run before each migrate.
@register_check(deploy=True)
def check_archive_tables(project: Project) -> Iterator[CheckMessage]:
    if not can_archive() or not issubclass(mcp_settings.ARCHIVE_CLASS, DatabaseArchive):
        return
    connection = connections[router.db_for_write(ArchivedChunk)]
    # Where a check runs without its database, nothing is known of the tables.
    tables = contain(connection.introspection.table_names, lambda exc: None)
    if tables is not None and ArchivedChunk._meta.db_table not in tables:
        yield Warning(
            "The tables of the archive are missing: long results are "
            "shortened, and nothing can be fetched back.",
            hint="Run manage.py migrate.",
            id="drf_mcp.W015",
        )


class EnvelopeInspection:
    """What an envelope class lacks, each as the end of a sentence that its name begins."""

    def __init__(self, envelope_class: type[Envelope]) -> None:
        self.envelope_class = envelope_class

    def find_faults(self) -> Iterator[str]:
        if self.envelope_class.render is Envelope.render:
            yield "has no render(outcome) method."
        schema: Any = contain(lambda: self.envelope_class().schema({}), lambda exc: exc)
        if isinstance(schema, Exception):
            yield f"cannot state its schema({{}}): {type(schema).__name__}: {schema}"
        elif schema is not None:
            yield from self.find_schema_faults(schema)

    def find_schema_faults(self, schema: Any) -> Iterator[str]:
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            yield 'gives a schema whose root is not {"type": "object"}.'
            return
        try:
            from jsonschema import Draft202012Validator, SchemaError
        except ImportError:  # It is no requirement of this package.
            return
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as exc:
            yield f"gives a schema that is not a JSON Schema: {exc.message}."
