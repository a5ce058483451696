"""Settings of drf_mcp: one dict named ``DRF_MCP`` in the project's settings.

Read a setting as an attribute of `mcp_settings`; values are imported, checked and cached on
first use and read again when Django's ``setting_changed`` fires.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils import translation
from django.utils.module_loading import import_string

from drf_mcp.option_types.installed import Setting, features, find_app
from drf_mcp.option_types.kinds import (
    ANYTHING,
    ICON,
    PATTERNS,
    Bound,
    Choice,
    Class,
    Flag,
    Kind,
    ListOf,
    MappingOf,
    Match,
    MembersOf,
    Number,
    Text,
)
from drf_mcp.option_types.spelling import find_nearest

# In tokens: an envelope that only says what is missing, and how to fetch it, has about so many.
SMALLEST_BUDGET = 1000
# An Origin header (RFC 6454, section 7).
_ORIGIN = Match(
    r"[a-z][a-z0-9+.-]*://[^\s/?#*@A-Z]+|null",
    "an origin as browsers send it, such as 'https://app.example.com'",
)
# Without a query and a fragment (RFC 8414, section 2, and RFC 9728, section 1.2).
_URI = r"https?://[^\s/?#@\"\\]+(/[^\s?#\"\\]*)?"
_RESOURCE_URI = Match(_URI, "the public URL of the endpoint or of a part of its path")
_ISSUER = Match(
    rf"{_URI}|/[^\s/?#\"\\][^\s?#\"\\]*",
    "the URL of an authorization server as it is in its tokens, or a path of this host",
)
# RFC 6749, section 3.3.
_SCOPE_NAME = r"[\x21\x23-\x5b\x5d-\x7e]+"
_SCOPE = Match(_SCOPE_NAME, "a scope, without spaces and quotes")
_CACHE_ALIAS = Kind(
    "an alias in CACHES", lambda value: isinstance(value, str) and value in settings.CACHES
)


def _is_permission_class(value: Any) -> bool:
    # REST framework reads Django's settings when it is imported, so not at the top.
    from rest_framework.permissions import OperandHolder, SingleOperandHolder

    if isinstance(value, (OperandHolder, SingleOperandHolder)):
        return True
    return isinstance(value, type) and callable(getattr(value, "has_permission", None))


# The last sentence of a comment says who changes the setting, and when.
SETTINGS: dict[str, Setting] = {
    # --- Exposure -----------------------------------------------------------
    # With "explicit", what you decorate or register is a tool; with "urlconf", every REST framework
    # endpoint minus EXCLUDE. See docs/exposing.md.
    "EXPOSE": Setting("explicit", Choice("explicit", "urlconf")),
    # Patterns for "urlconf", such as "/api/orders/*", "orders_*", "tag:internal" and "GET /api/*";
    # an empty list includes everything.
    "INCLUDE": Setting([], PATTERNS),
    # Patterns of what is never a tool, whatever exposes it.
    "EXCLUDE": Setting([], PATTERNS),
    # Decides which endpoints are tools. See docs/customising.md.
    "EXPOSURE_CLASS": Setting("drf_mcp.exposure.Exposure", Class("drf_mcp.exposure.Exposure")),
    # --- Access -------------------------------------------------------------
    # They find out who is calling. None: REST framework's DEFAULT_AUTHENTICATION_CLASSES. See
    # docs/authentication.md. For agents that sign in otherwise than users of the API.
    "AUTHENTICATION_CLASSES": Setting(
        None, ListOf(Class("rest_framework.authentication.BaseAuthentication")).or_none()
    ),
    # Asked once per request, before the view's own permissions.
    "PERMISSION_CLASSES": Setting(
        ["rest_framework.permissions.IsAuthenticated"],
        ListOf(Kind("a permission class", _is_permission_class, imports=True)),
    ),
    # The OAuth issuers whose tokens you accept. "/o" is a server on the host of the endpoint. See
    # docs/oauth.md.
    "AUTHORIZATION_SERVERS": Setting([], ListOf(_ISSUER)),
    # The scopes that every token needs.
    "SCOPES": Setting([], ListOf(_SCOPE)),
    # The tools that need a further scope of a token with scopes, as patterns by scope: {"billing":
    # ["tag:billing"]}.
    "TOOL_SCOPES": Setting(
        {},
        MappingOf(PATTERNS, "a dict from scopes to lists of patterns", name=_SCOPE_NAME),
    ),
    # The address that OAuth tokens are made for, "https://shop.example/mcp". None: the address of
    # the endpoint.
    "RESOURCE": Setting(None, _RESOURCE_URI.or_none()),
    # True leaves only the tools that read. A function, or its dotted path, decides for each
    # request. See docs/toolsets.md.
    "READ_ONLY": Setting(
        False,
        Kind(
            "True, False, or a function of the request or its dotted path",
            lambda value: isinstance(value, bool) or callable(value),
            imports=True,
        ),
    ),
    # Sets of tools, by name, that a URL or the header MCP-Toolsets can ask for. Each tag is a set
    # as well.
    "TOOLSETS": Setting(
        {},
        # Names are in URLs, and in a header with commas between them.
        MappingOf(
            PATTERNS,
            "a dict from names to lists of patterns such as {'billing': ['invoices_*']}",
            name=r"[\w.-]+",
        ),
    ),
    # REST framework's throttle classes, asked before each call. See docs/limits.md.
    "THROTTLE_CLASSES": Setting([], ListOf(Class("rest_framework.throttling.BaseThrottle"))),
    # Seconds after which a call is stopped. None: never. See docs/limits.md.
    "TIME_LIMIT": Setting(None, Number().or_none()),
    # Middleware that runs around each call with the path of the tool. See docs/middleware.md. For
    # tenants, languages and locks that are found by the path.
    "CALL_MIDDLEWARE": Setting(
        [], ListOf(Kind("the dotted path of middleware", callable, imports=True))
    ),
    # Origins of web pages that may call, besides the endpoint's own: "https://app.example.com".
    "ALLOWED_ORIGINS": Setting([], ListOf(_ORIGIN)),
    # Largest request body; a larger one is answered 413. DATA_UPLOAD_MAX_MEMORY_SIZE limits it too.
    "MAX_BODY_BYTES": Setting(2621440, Number()),
    # Whether a browser that opens the endpoint sees the tools. None: while DEBUG is on. See
    # docs/page.md.
    "BROWSABLE_PAGE": Setting(None, Flag().or_none()),
    # --- What the server says of itself ---------------------------------------
    # The name of the server, which some clients put before the names of tools. None: the name of
    # the project.
    "SERVER_NAME": Setting(None, Text().or_none()),
    # The name that people read. None: SERVER_NAME.
    "SERVER_TITLE": Setting(None, Text(lazy=True).or_none()),
    # The version that clients see. None: this package's version.
    "SERVER_VERSION": Setting(None, Text().or_none()),
    # More that hosts may show: {"description": ..., "icons": [...], "websiteUrl": ...}. See
    # docs/naming.md.
    "SERVER_INFO": Setting(
        {},
        MembersOf(
            "a dict with description (a text), icons (each as a tool's icon) and websiteUrl (an "
            "https URL), or some of them",
            {"description": Text(lazy=True), "icons": ListOf(ICON), "websiteUrl": _RESOURCE_URI},
        ),
    ),
    # What a model reads when its client connects. None: written from the tools that the caller
    # sees; "" for none.
    "INSTRUCTIONS": Setting(None, Text(lazy=True, empty=True).or_none()),
    # --- Tools ----------------------------------------------------------------
    # Names, titles and describes tools. See docs/customising.md.
    "NAMING_CLASS": Setting("drf_mcp.naming.Naming", Class("drf_mcp.naming.Naming")),
    # Describes arguments and answers. See docs/customising.md.
    "DESCRIBER_CLASS": Setting(
        "drf_mcp.describers.Describer", Class("drf_mcp.describers.Describer")
    ),
    # With "flat", arguments of path, query and body are side by side; with "grouped", they are
    # {"kwargs": {...}, "query": {...}, "body": {...}}.
    "ARGUMENTS": Setting("flat", Choice("flat", "grouped")),
    # True adds an open "query" argument to every tool, for parameters that views read undeclared.
    "EXTRA_QUERY": Setting(False, Flag()),
    # True keeps schemas of arguments to what every client takes; False gives all of JSON Schema
    # 2020-12. See docs/arguments_and_schemas.md.
    "PORTABLE": Setting(True, Flag()),
    # Largest file in an argument. Its base64 has to fit into MAX_BODY_BYTES as well. See
    # docs/files.md.
    "MAX_UPLOAD_BYTES": Setting(1024 * 1024, Number()),
    # Tools per page of tools/list. None: one page, which every client reads whole.
    "TOOLS_PAGE_SIZE": Setting(None, Number().or_none()),
    # Seconds for which a client may keep tools/list (since 2026-07-28). 0: not at all.
    "LIST_TTL": Setting(60, Number(0)),
    # --- Results --------------------------------------------------------------
    # The shape of every result: a class of drf_mcp.envelopes, or your own. See docs/envelopes.md.
    "ENVELOPE_CLASS": Setting(
        "drf_mcp.envelopes.ResponseV2Envelope", Class("drf_mcp.envelopes.Envelope")
    ),
    # Gives errors their code, type and advice. See docs/customising.md.
    "ERROR_MAPPER_CLASS": Setting(
        "drf_mcp.errors.ErrorMapper", Class("drf_mcp.errors.ErrorMapper")
    ),
    # What tools/list says of results: None (nothing), "envelope" (the envelope, its data open),
    # "full" (its data as well) or "data" (its data alone, undescribed). See
    # docs/arguments_and_schemas.md.
    "OUTPUT_SCHEMA": Setting(None, Choice("envelope", "full", "data").or_none()),
    # Names of clients that show a model both text and structure: their text is a line that points
    # at the structure (since 2026-07-28). See docs/clients.md.
    "STRUCTURE_CLIENTS": Setting([], ListOf(Text())),
    # True gives reads an argument "fields", which selects from the answer. See
    # docs/large_results.md. False is for an API that selects fields itself.
    "FIELDS_ARGUMENT": Setting(True, Flag()),
    # True adds to every result how long the call took and how many database queries it made, as
    # DEBUG does. See docs/observing.md.
    "TELEMETRY": Setting(False, Flag()),
    # True adds the arguments of a call to its log record and span, secrets masked. See
    # docs/observing.md. For a mistake of an agent that you cannot repeat.
    "LOG_ARGUMENTS": Setting(False, Flag()),
    # Largest file or stream in a result. A longer text is cut; anything else becomes a link. See
    # docs/files_as_answers.md.
    "MAX_CONTENT_BYTES": Setting(1024 * 1024, Number()),
    # Longest success, in estimated tokens. What is longer is shortened. None: any length. See
    # docs/large_results.md.
    "MAX_RESULT_TOKENS": Setting(10000, Number(SMALLEST_BUDGET).or_none()),
    # The same for a failure.
    "MAX_ERROR_TOKENS": Setting(2000, Number(SMALLEST_BUDGET).or_none()),
    # Decides how long a result may be.
    "BUDGET_CLASS": Setting("drf_mcp.budgets.ToolBudget", Class("drf_mcp.budgets.ToolBudget")),
    # Makes digests of long texts. None: their beginnings instead.
    "DIGESTER_CLASS": Setting(
        "drf_mcp.digests.LeadDigester", Class("drf_mcp.digests.Digester").or_none()
    ),
    # Keeps what a result had no room for. None: nothing is kept. See docs/retrieving.md. For
    # answers that may not be stored, or not in the database.
    "ARCHIVE_CLASS": Setting(
        "drf_mcp.archives.DatabaseArchive", Class("drf_mcp.archives.Archive").or_none()
    ),
    # The alias in CACHES that drf_mcp.archives.CacheArchive uses, not the cache of throttles and
    # sessions.
    "ARCHIVE_CACHE": Setting("default", _CACHE_ALIAS),
    # Seconds for which archived content can be fetched.
    "ARCHIVE_TTL": Setting(900, Number()),
    # --- Bounds of a caller -----------------------------------------------------
    # Names in the argument `fields`.
    "MAX_FIELDS": Setting(200, Bound("'fields' takes at most %(most)s names.")),
    # Objects that one call reads by `ids`.
    "MAX_IDS": Setting(50, Bound("'ids' takes at most %(most)s ids.")),
    # Long results whose rest is kept for a caller at once.
    "MAX_KEPT_RESULTS": Setting(
        10_000, Bound("The rest is not kept: the rests of %(most)s results of yours are.")
    ),
    # Characters of these results together.
    "MAX_KEPT_CHARACTERS": Setting(
        100_000_000,
        Bound("The rest is not kept: the rests of your results have %(most)s characters."),
    ),
}

DEFAULTS: dict[str, Any] = {name: setting.default for name, setting in SETTINGS.items()}
# The kind of value that each attribute of an endpoint takes.
ENDPOINT_KINDS: Mapping[str, Kind] = {
    "server_class": Class("drf_mcp.server.Server"),
    "registry": Kind(
        "an instance of drf_mcp.exposure.Registry",
        lambda value: isinstance(value, import_string("drf_mcp.exposure.Registry")),
    ),
    "tools": PATTERNS.or_none(),
    "read_only": Flag(),
    "tool_options": MappingOf(ANYTHING, "a dict of options of tools").or_none(),
    **{
        name.lower(): SETTINGS[name].kind.or_none()
        for name in (
            "ENVELOPE_CLASS",
            "AUTHENTICATION_CLASSES",
            "PERMISSION_CLASSES",
            "TOOLSETS",
            "SERVER_NAME",
            "SERVER_TITLE",
            "SERVER_VERSION",
            "INSTRUCTIONS",
            "BROWSABLE_PAGE",
            "THROTTLE_CLASSES",
            "AUTHORIZATION_SERVERS",
            "SCOPES",
            "RESOURCE",
        )
    },
}
# Names of packages of settings and URLs that are no name of the project.
LAYOUT = frozenset(
    {"api", "app", "backend", "conf", "config", "core", "project", "settings", "src", "urls", ""}
)
FALLBACK_NAME = "drf-mcp-server"


class MCPSettings:
    """The project's ``DRF_MCP`` dict over the defaults, as attributes; a wrong value raises."""

    _project: Mapping[str, Any] | None = None

    def __init__(self) -> None:
        setting_changed.connect(self._reload_changed)

    @property
    def table(self) -> Mapping[str, Setting]:
        """The settings of the core and of installed apps, by name."""
        return {**SETTINGS, **features.settings}

    def __getattr__(self, name: str) -> Any:
        if name not in self.table:
            raise AttributeError(self.refuse_name(name))
        if self._project is None:
            project = getattr(settings, "DRF_MCP", {})
            for fault in self.find_wrong_names(project):
                raise ImproperlyConfigured(fault)
            self._project = project
        default, kind = self.table[name][:2]
        value = kind.read(self._project.get(name, default), f"DRF_MCP[{name!r}]")
        if value is None and name == "SERVER_NAME":
            value = _find_project_name()
        # The next read finds a plain attribute.
        setattr(self, name, value)
        return value

    def reload(self) -> None:
        vars(self).clear()

    def _reload_changed(self, *, setting: str, **kwargs: Any) -> None:
        if setting in ("DRF_MCP", "ROOT_URLCONF", "BASE_DIR", "INSTALLED_APPS"):
            self.reload()

    def find_wrong_names(self, project: Any) -> Iterator[str]:
        if not isinstance(project, Mapping):
            yield f"DRF_MCP must be a dict, not {reprlib.repr(project)}."
            return
        yield from (self.refuse_name(key) for key in project if key not in self.table)

    def refuse_name(self, name: Any) -> str:
        if app := find_app("settings", str(name)):
            return f"The setting {name!r} is of an app: add {app!r} to INSTALLED_APPS."
        nearest = find_nearest(str(name), self.table)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        return f"DRF_MCP has no setting {name!r}.{hint}"


def _find_project_name() -> str:
    """Return the name of the project's package, or of its folder, as clients take names."""
    urlconf = getattr(settings, "ROOT_URLCONF", None)
    package = urlconf.partition(".")[0] if isinstance(urlconf, str) else ""
    folder = Path(str(getattr(settings, "BASE_DIR", "") or ""))
    names = (package, folder.name, folder.parent.name)
    for name in (*(name for name in names if name not in LAYOUT), folder.name, package):
        if portable := re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-"):
            return portable
    return FALLBACK_NAME


mcp_settings = MCPSettings()


def say_bound(name: str) -> str:
    """Return the sentence of a bound that a caller has reached."""
    sentence: str = mcp_settings.table[name].kind.sentence
    return sentence % {"most": f"{getattr(mcp_settings, name):,}"}


@contextmanager
def override_language() -> Iterator[None]:
    """Activate the project's own language, not the caller's; also used as a decorator."""
    with translation.override(settings.LANGUAGE_CODE):
        yield
