"""Settings of drf_mcp: one dict named ``DRF_MCP`` in the project's settings.

Read a setting as an attribute of `mcp_settings`; values are imported, checked and cached on
first use and read again when Django's ``setting_changed`` fires.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.utils import translation

from drf_mcp.option_types.installed import Setting, features, find_app
from drf_mcp.option_types.kinds import (
    CacheAlias,
    Choice,
    Class,
    Condition,
    Flag,
    Issuer,
    Language,
    ListOf,
    Middleware,
    NamedPatterns,
    Number,
    Origin,
    PermissionClass,
    ResourceURI,
    Scope,
    Text,
    ToolPattern,
)
from drf_mcp.option_types.project_settings import ProjectSettings, find_project_name

P = ParamSpec("P")
R = TypeVar("R")

SMALLEST_BUDGET = 1000
"""Tokens that an envelope takes which says what is missing and where it waits."""


SETTINGS: dict[str, Setting] = {
    # --- Exposure -----------------------------------------------------------
    # "explicit": only what is decorated or registered becomes a tool.
    # "urlconf": every DRF endpoint of the URLconf does, minus EXCLUDE.
    # See docs/exposing.md.
    "EXPOSE": Setting("explicit", Choice("explicit", "urlconf")),
    # Patterns for "urlconf": shell-style globs matched against a tool's path
    # ("/api/orders/*"), its name ("orders_*") and its tags ("tag:internal"), with an HTTP
    # method before it for that method alone ("GET /api/*"). An empty INCLUDE includes
    # everything. One that fits a PUT and not the PATCH of the same route asks for that PUT,
    # whatever exposes its view.
    "INCLUDE": Setting([], ListOf(ToolPattern())),
    # Patterns of the same kind. What they match is never a tool, however it was chosen.
    "EXCLUDE": Setting([], ListOf(ToolPattern())),
    # What decides which endpoints are tools: a drf_mcp.tools.Exposure. See docs/customising.md.
    "EXPOSURE_CLASS": Setting("drf_mcp.tools.Exposure", Class("drf_mcp.tools.Exposure")),
    # --- Access -------------------------------------------------------------
    # How the endpoint finds out who is calling. None: REST framework's own
    # DEFAULT_AUTHENTICATION_CLASSES. See docs/authentication.md.
    "AUTHENTICATION_CLASSES": Setting(
        None, ListOf(Class("rest_framework.authentication.BaseAuthentication"), none=True)
    ),
    # Asked once per request, before the view's own permissions.
    "PERMISSION_CLASSES": Setting(
        ["rest_framework.permissions.IsAuthenticated"], ListOf(PermissionClass())
    ),
    # Issuers whose tokens are taken: with one, clients that know OAuth learn where to sign
    # in. A path such as "/o" is one on the host of the endpoint. See docs/oauth.md.
    "AUTHORIZATION_SERVERS": Setting([], ListOf(Issuer())),
    # The scopes that every token needs; a token that has scopes and lacks one of these is
    # refused. Views ask for more by their own permissions. See docs/oauth.md.
    "SCOPES": Setting([], ListOf(Scope())),
    # The canonical URI that tokens are for, "https://shop.example/mcp". None: the address of
    # the endpoint, by the request. See docs/oauth.md.
    "RESOURCE": Setting(None, ResourceURI(none=True)),
    # True leaves only the tools that read, at every door. A function, or its dotted path, is asked
    # with the authenticated request whether that holds for the caller. See docs/toolsets.md.
    "READ_ONLY": Setting(False, Condition()),
    # Sets of tools that a URL or the header MCP-Toolsets can ask for: patterns as those of INCLUDE
    # by the name of a set. Each tag of a tool is the name of a set as well. See docs/toolsets.md.
    "TOOLSETS": Setting({}, NamedPatterns()),
    # How often tools may be called: REST framework's throttle classes, asked for each call after
    # its caller is known. What a view's own throttle counts is not counted twice.
    # See docs/limits.md.
    "THROTTLE_CLASSES": Setting([], ListOf(Class("rest_framework.throttling.BaseThrottle"))),
    # Seconds after which a call is stopped where that can be done: before its next statement on
    # a database, and at the next await of an async view. None: never. See docs/limits.md.
    "TIME_LIMIT": Setting(None, Number(none=True)),
    # Middleware that runs around each call with the path of the tool: dotted
    # paths, in the order of MIDDLEWARE. See docs/middleware.md.
    "CALL_MIDDLEWARE": Setting([], ListOf(Middleware(), distinct=True)),
    # Browser origins allowed besides the endpoint's own, if ALLOWED_HOSTS names its host,
    # for example "https://app.example.com".
    "ALLOWED_ORIGINS": Setting([], ListOf(Origin())),
    # Largest accepted request body, in bytes; a larger one is answered 413. More than
    # DATA_UPLOAD_MAX_MEMORY_SIZE, whose default this is, has no effect.
    "MAX_BODY_BYTES": Setting(2621440, Number()),
    # Most messages in one batch, which revision 2025-03-26 has; a larger one is refused whole.
    # A batch holds its worker until the last of its calls is answered.
    "MAX_BATCH_MESSAGES": Setting(20, Number()),
    # Whether a browser that opens the endpoint sees the tools and can call them.
    # None: while DEBUG is on. See docs/page.md.
    "BROWSABLE_PAGE": Setting(None, Flag(none=True)),
    # --- What the server says of itself ---------------------------------------
    # The name of the server. Some clients put it before the names of tools. None: the name of
    # the project, which is the package of its root URLconf or its folder.
    "SERVER_NAME": Setting(None, Text(none=True)),
    # The name that people read. None: clients show SERVER_NAME.
    "SERVER_TITLE": Setting(None, Text(lazy=True, none=True)),
    # The version of the server that clients see. None: that of this package.
    "SERVER_VERSION": Setting(None, Text(none=True)),
    # Guidance for the model, sent when a client connects. None: written from the tools that
    # the caller sees; "" for none. See docs/naming.md.
    "INSTRUCTIONS": Setting(None, Text(lazy=True, none=True, empty=True)),
    # The language of what models read, "de": of tools, results and errors, whatever language the
    # caller of a view has. None: tools have LANGUAGE_CODE, answers what Django's middleware
    # chose. See docs/languages.md.
    "LANGUAGE": Setting(None, Language(none=True)),
    # --- Tools ----------------------------------------------------------------
    # Names, titles and descriptions of tools that have none in their options: a
    # drf_mcp.tools.Naming. See docs/customising.md.
    "NAMING_CLASS": Setting("drf_mcp.tools.Naming", Class("drf_mcp.tools.Naming")),
    # Arguments and answers of views as schemas: a drf_mcp.introspection.Describer. See
    # docs/customising.md.
    "DESCRIBER_CLASS": Setting(
        "drf_mcp.introspection.Describer", Class("drf_mcp.introspection.Describer")
    ),
    # "flat": path, query and body arguments side by side.
    # "grouped": {"kwargs": {...}, "query": {...}, "body": {...}}.
    "ARGUMENTS": Setting("flat", Choice("flat", "grouped")),
    # True adds an open "query" object to every tool, for query parameters that
    # views read without declaring them.
    "EXTRA_QUERY": Setting(False, Flag()),
    # True keeps the schemas of arguments to what every client and model provider accepts;
    # False gives all of JSON Schema 2020-12: null in types, formats, exclusive bounds.
    # See docs/arguments_and_schemas.md.
    "PORTABLE": Setting(True, Flag()),
    # Largest file that an argument may carry, in bytes; its base64, a third larger, has
    # to fit into MAX_BODY_BYTES as well. See docs/files.md.
    "MAX_UPLOAD_BYTES": Setting(1024 * 1024, Number()),
    # Most bytes that the arguments of one call may have in a URL, path and query together: about
    # what HTTP servers take. More are refused with the longest argument. See docs/security.md.
    "MAX_QUERY_LENGTH": Setting(8190, Number()),
    # Tools per page of tools/list. None: one page, which every client reads whole.
    "TOOLS_PAGE_SIZE": Setting(None, Number(none=True)),
    # Seconds for which a client may keep tools/list and what else it may cache (``ttlMs``, since
    # 2026-07-28). A tool that is taken away in the meantime is refused at the call. 0: not at all.
    "LIST_TTL": Setting(60, Number(0)),
    # Seconds, and never more than LIST_TTL, for which a process remembers which tools REST
    # framework's own permission classes, and those with list_cache = True, let a caller see. Calls
    # always ask. 0: each list asks. See docs/many_tools.md.
    "LIST_CACHE_TTL": Setting(30, Number(0)),
    # --- Results --------------------------------------------------------------
    # The shape of every result: an envelope of drf_mcp.envelopes, or your own. It replaces the
    # flag response_contract_v2 of the guide to "response-v2".
    # See docs/envelopes.md.
    "ENVELOPE_CLASS": Setting(
        "drf_mcp.envelopes.ResponseV2Envelope", Class("drf_mcp.envelopes.Envelope")
    ),
    # Gives errors of views their code, category and advice: a drf_mcp.dispatch.errors.ErrorMapper.
    # See docs/errors.md.
    "ERROR_MAPPER_CLASS": Setting(
        "drf_mcp.dispatch.errors.ErrorMapper", Class("drf_mcp.dispatch.errors.ErrorMapper")
    ),
    # What tools/list says of results: None (nothing), "envelope" (the envelope, its data open)
    # or "full" (its data as far as stock fields guarantee it). Each schema takes more tokens
    # than the rest of its tool. See docs/arguments_and_schemas.md.
    "OUTPUT_SCHEMA": Setting(None, Choice("envelope", "full", none=True)),
    # True gives reads an argument "fields", which asks for some fields of the answer only.
    # See docs/large_results.md.
    "FIELDS_ARGUMENT": Setting(True, Flag()),
    # True adds duration_ms, database_queries, database_ms and slowest_query_ms to the telemetry
    # of every result, and database_hint where one statement runs often or long. DEBUG adds them
    # as well. See docs/observing.md.
    "TELEMETRY": Setting(False, Flag()),
    # True adds the arguments of a call to its log record and span, secrets masked.
    # See docs/observing.md.
    "LOG_ARGUMENTS": Setting(False, Flag()),
    # Largest non-JSON response, or stream, put into a result, in bytes. Of a longer text
    # there is the beginning; anything else becomes a link to where it is over HTTP.
    # See docs/files_as_answers.md.
    "MAX_CONTENT_BYTES": Setting(1024 * 1024, Number()),
    # Longest envelope of a success, in estimated tokens, and four characters for each of them.
    # What is longer is shortened. 1000 or more; None: any length. See docs/large_results.md.
    "MAX_RESULT_TOKENS": Setting(10000, Number(SMALLEST_BUDGET, none=True)),
    # The same for a failure.
    "MAX_ERROR_TOKENS": Setting(2000, Number(SMALLEST_BUDGET, none=True)),
    # Decides how long a result may be: a drf_mcp.tools.results.ToolBudget.
    "BUDGET_CLASS": Setting(
        "drf_mcp.tools.results.ToolBudget", Class("drf_mcp.tools.results.ToolBudget")
    ),
    # Makes digests where several long texts compete for the room: a
    # drf_mcp.truncation.Digester. None: the beginning of each instead.
    "DIGESTER_CLASS": Setting(
        "drf_mcp.truncation.LeadDigester", Class("drf_mcp.truncation.Digester", none=True)
    ),
    # Where content waits that a result had no room for: a drf_mcp.archive.Archive. By default
    # tables of the database, made by `manage.py migrate`. None: nothing is kept.
    "ARCHIVE_CLASS": Setting(
        "drf_mcp.archive.DatabaseArchive", Class("drf_mcp.archive.Archive", none=True)
    ),
    # The alias in CACHES that drf_mcp.archive.CacheArchive uses: a cache of its own that all
    # processes share, not that of throttles and sessions.
    "ARCHIVE_CACHE": Setting("default", CacheAlias()),
    # Seconds for which archived content can be retrieved.
    "ARCHIVE_TTL": Setting(3600, Number()),
}

DEFAULTS: dict[str, Any] = {name: setting.default for name, setting in SETTINGS.items()}


# Values that stand for a default of None.
COMPUTED: Mapping[str, Callable[[], Any]] = {"SERVER_NAME": find_project_name}


# Settings of earlier versions, and their successors.
MOVED = {
    "MAX_RESULT_CHARS": "use MAX_RESULT_TOKENS, some four characters to a token.",
    "MAX_ERROR_CHARS": "use MAX_ERROR_TOKENS, some four characters to a token.",
}


class MCPSettings(ProjectSettings):
    """The project's ``DRF_MCP`` dict over the defaults, as attributes; a wrong value raises."""

    computed = COMPUTED
    moved = MOVED

    @property
    def table(self) -> Mapping[str, Setting]:
        """The settings by name: those of the core, and of installed apps."""
        return {**SETTINGS, **features.settings}

    def refuse_name(self, name: Any) -> str:
        if app := find_app("settings", str(name)):
            return f"The setting {name!r} is of an app: add {app!r} to INSTALLED_APPS."
        return super().refuse_name(name)


mcp_settings = MCPSettings()


@contextmanager
def override_language() -> Iterator[None]:
    """Have texts in the language of the tools, not of the caller; a decorator as well."""
    with translation.override(mcp_settings.LANGUAGE or settings.LANGUAGE_CODE):
        yield


UNCHANGED = nullcontext()


def chosen_language() -> AbstractContextManager[None]:
    """Return what has texts in LANGUAGE; without one they have the language of the thread."""
    language = mcp_settings.LANGUAGE
    return UNCHANGED if language is None else translation.override(language)


def in_chosen_language(answer: Callable[P, R]) -> Callable[P, R]:
    """Have what a function returns in LANGUAGE; without one in the language of its thread."""

    @functools.wraps(answer)
    def answer_in_language(*args: P.args, **kwargs: P.kwargs) -> R:
        with chosen_language():
            return answer(*args, **kwargs)

    return answer_in_language
