"""Settings of drf_mcp: one dict named ``DRF_MCP`` in the project's settings.

Every key, its default and its meaning stand in `DEFAULTS`. Read a setting as an
attribute of `mcp_settings`; values are imported and cached on first use and read
again when Django's ``setting_changed`` fires (``override_settings`` works).
"""

from __future__ import annotations

import difflib
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

DEFAULTS: dict[str, Any] = {
    # --- Exposure -----------------------------------------------------------
    # "explicit": only what is decorated or registered becomes a tool.
    # "urlconf": every DRF endpoint of the URLconf does, minus EXCLUDE.
    # See docs/exposing.md.
    "EXPOSE": "explicit",
    # Patterns for "urlconf": shell-style globs matched against a tool's path
    # ("/api/orders/*"), its name ("orders_*") and its tags ("tag:internal").
    # An empty INCLUDE includes everything.
    "INCLUDE": [],
    # Patterns of the same kind. What they match is never a tool, however it was chosen.
    "EXCLUDE": [],
    # --- Access -------------------------------------------------------------
    # How the endpoint finds out who is calling. None: REST framework's own
    # DEFAULT_AUTHENTICATION_CLASSES. See docs/authentication.md.
    "AUTHENTICATION_CLASSES": None,
    # Asked once per request, before the view's own permissions.
    "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    # Browser origins allowed besides the endpoint's own, if ALLOWED_HOSTS names its host,
    # for example "https://app.example.com".
    "ALLOWED_ORIGINS": [],
    # Largest accepted request body, in bytes; a larger one is answered 413. More than
    # DATA_UPLOAD_MAX_MEMORY_SIZE, whose default this is, has no effect.
    "MAX_BODY_BYTES": 2621440,
    # Whether a browser that opens the endpoint sees the tools and can call them.
    # None: while DEBUG is on. See docs/page.md.
    "BROWSABLE_PAGE": None,
    # --- What the server says of itself ---------------------------------------
    # What the server calls itself. Some clients put it before the names of tools.
    "SERVER_NAME": "drf-mcp-server",
    # The same for people.
    "SERVER_TITLE": None,
    # None: the version of this package.
    "SERVER_VERSION": None,
    # Guidance for the model, sent when a client connects. See docs/naming.md.
    "INSTRUCTIONS": None,
    # --- Tools ----------------------------------------------------------------
    # "flat": path, query and body arguments side by side.
    # "grouped": {"kwargs": {...}, "query": {...}, "body": {...}}.
    "ARGUMENTS": "flat",
    # True adds an open "query" object to every tool, for query parameters that
    # views read without declaring them.
    "EXTRA_QUERY": False,
    # True keeps the schemas of arguments to what every client and model provider accepts;
    # False gives all of JSON Schema 2020-12: null in types, formats, exclusive bounds.
    # See docs/arguments_and_schemas.md.
    "PORTABLE": True,
    # Largest file that an argument may carry, in bytes; its base64, a third larger, has
    # to fit into MAX_BODY_BYTES as well. See docs/files.md.
    "MAX_UPLOAD_BYTES": 1024 * 1024,
    # Tools per page of tools/list. None: one page, which every client reads whole.
    "TOOLS_PAGE_SIZE": None,
    # --- Results --------------------------------------------------------------
    # The shape of every result: an envelope of drf_mcp.envelopes, or your own.
    # See docs/envelopes.md.
    "ENVELOPE_CLASS": "drf_mcp.envelopes.ResponseV2Envelope",
    # What tools/list says of results: "envelope" (the envelope, its data open), "full"
    # (its data as far as stock fields guarantee it) or None (nothing).
    # See docs/arguments_and_schemas.md.
    "OUTPUT_SCHEMA": "envelope",
    # True gives reads an argument "fields", which asks for some fields of the answer only.
    # See docs/large_results.md.
    "FIELDS_ARGUMENT": True,
    # True adds database_queries, database_ms and slowest_query_ms to the telemetry of every
    # result, and database_hint where one statement runs often or long. DEBUG adds them as
    # well. See docs/observing.md.
    "TELEMETRY": False,
    # True adds the arguments of a call to its log record and span, secrets masked.
    # See docs/observing.md.
    "LOG_ARGUMENTS": False,
    # Largest non-JSON response, or stream, put into a result, in bytes. Of a longer text
    # there is the beginning; anything else becomes a link to where it stands over HTTP.
    # See docs/files.md.
    "MAX_CONTENT_BYTES": 1024 * 1024,
    # Longest envelope of a success, in characters of its text. What is longer is digested
    # and trimmed. 2000 or more; None: any length. See docs/large_results.md.
    "MAX_RESULT_CHARS": 40000,
    # The same for a failure.
    "MAX_ERROR_CHARS": 8000,
    # Makes digests of long texts: a drf_mcp.fidelity.Digester. None: a row with a text
    # too long is reduced to its identifiers instead.
    "DIGESTER_CLASS": "drf_mcp.fidelity.ExtractiveDigester",
    # Where content waits that a result had no room for. Several processes need a cache
    # that they share, or drf_mcp.fidelity.DatabaseArchive. None: nothing is kept.
    "ARCHIVE_CLASS": "drf_mcp.fidelity.CacheArchive",
    # The alias in CACHES that CacheArchive uses.
    "ARCHIVE_CACHE": "default",
    # Seconds for which archived content can be retrieved.
    "ARCHIVE_TTL": 3600,
}

# Settings given as a dotted path, or a list of them.
IMPORT_STRINGS = frozenset(
    {
        "AUTHENTICATION_CLASSES",
        "PERMISSION_CLASSES",
        "ENVELOPE_CLASS",
        "DIGESTER_CLASS",
        "ARCHIVE_CLASS",
    }
)


SMALLEST_BUDGET = 2000
"""Characters that an envelope takes which says what is missing and where it waits."""


class MCPSettings:
    """The project's ``DRF_MCP`` dict over `DEFAULTS`, as attributes.

    Raises:
        ImproperlyConfigured: on a key that does not exist (naming the nearest
            one that does) or a dotted path that cannot be imported.
    """

    def __init__(self) -> None:
        self._cached: set[str] = set()
        self._project: dict[str, Any] | None = None

    @property
    def project(self) -> dict[str, Any]:
        """The project's own dict, its keys checked."""
        if self._project is None:
            project = getattr(settings, "DRF_MCP", {})
            for key in project:
                if key not in DEFAULTS:
                    raise ImproperlyConfigured(unknown_setting(key))
            self._project = project
        return self._project

    def __getattr__(self, name: str) -> Any:
        if name not in DEFAULTS:
            raise AttributeError(unknown_setting(name))
        value = self.project.get(name, DEFAULTS[name])
        if name in IMPORT_STRINGS:
            value = import_setting(value, name)
        self._cached.add(name)
        setattr(self, name, value)
        return value

    def reload(self) -> None:
        """Forget every cached value."""
        for name in self._cached:
            delattr(self, name)
        self._cached.clear()
        self._project = None


def unknown_setting(name: str) -> str:
    """Return the message for a key that is not in `DEFAULTS`."""
    nearest = difflib.get_close_matches(name, DEFAULTS, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"DRF_MCP has no setting {name!r}.{hint}"


def import_setting(value: Any, name: str) -> Any:
    """Import a dotted path, or each of a list of them; other values pass through."""
    if isinstance(value, (list, tuple)):
        return [import_setting(item, name) for item in value]
    if not isinstance(value, str):
        return value
    try:
        return import_string(value)
    except ImportError as exc:
        raise ImproperlyConfigured(
            f"DRF_MCP[{name!r}] names {value!r}, which cannot be imported: {exc}"
        ) from exc


mcp_settings = MCPSettings()


def reload_settings(*, setting: str, **kwargs: Any) -> None:
    """Follow ``override_settings(DRF_MCP=...)``."""
    if setting == "DRF_MCP":
        mcp_settings.reload()


setting_changed.connect(reload_settings)
