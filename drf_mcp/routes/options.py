"""The options of tools and views, and the headers in which clients repeat arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.option_types.installed import features, find_app
from drf_mcp.option_types.kinds import (
    ANYTHING,
    ICON,
    JSON_OBJECT,
    WORDS,
    Choice,
    Class,
    Either,
    Flag,
    Kind,
    ListOf,
    MappingOf,
    Number,
    Text,
    refuse_wrong_values,
)
from drf_mcp.outcomes import MISSING
from drf_mcp.settings import SMALLEST_BUDGET

Target = TypeVar("Target", bound=Callable[..., Any])
JSON_SCHEMA = MappingOf(ANYTHING, "a JSON Schema as a dict")
SCHEMAS = MappingOf(JSON_SCHEMA, "a dict from names to JSON Schemas")
BUDGET = Number(SMALLEST_BUDGET, zero=True)
VIEW_KINDS = {"actions": WORDS.or_none(), "exclude": WORDS, "name": Text().or_none()}


def option(kind: Kind, default: Any = None) -> Any:
    # Only a list may not be None.
    own = kind if default == () else kind.or_none()
    return dataclasses.field(default=default, metadata={"kind": own})


@dataclass(frozen=True)
class ToolOptions:
    """The options of one tool; None leaves one open.

    Attributes:
        name: the tool's name, ``^[a-z][a-z0-9_]*$``, at most 64 characters.
        title: the name for people.
        description: what the model reads.
        read_only: the call changes nothing. For a POST that only searches.
        destructive: the call may delete or overwrite.
        idempotent: calling again with the same arguments changes nothing more.
        open_world: the call reaches beyond this API. For a view that calls other services.
        extra_query: an open ``query`` argument, for query parameters that the view reads
            undeclared.
        query: JSON Schemas, by name, of query parameters that the view reads without declaring
            them; ``"required": True`` in a schema makes its parameter required.
        body: the same for members of the body; for all members if the body could not be described.
        input_schema: the ``inputSchema``, sent unchanged; names in it that are not arguments of the
            tool go into the body. For a body that no serializer describes.
        output_schema: ``"envelope"``, ``"full"``, ``"data"`` or None as for OUTPUT_SCHEMA, or the
            JSON Schema of the data in the envelope.
        portable: False for arguments in all of JSON Schema, as PORTABLE.
        many: True lets a tool that reads one object read several: the argument ``ids`` replaces its
            key. The view gets a request for each object. On a whole view, for retrieving.
        envelope_class: the envelope of this tool's results.
        tabular: True writes rows as ``columns`` and ``rows``, in two thirds of the tokens. For long
            lists of flat rows.
        max_result_tokens: the longest envelope of a success, 1000 or more; 0 for any length.
        max_error_tokens: the longest envelope of a failure; 0 for any length.
        throttle_scope: the scope under which a ScopedRateThrottle of the endpoint counts the tool;
            by default the ``throttle_scope`` of the view.
        time_limit: seconds after which a call is stopped, as TIME_LIMIT; 0 for never.
        archive: False keeps nothing of what is left out of a long result.
        hidden: values of arguments that callers neither see nor send, by name; a function gets the
            request. For a tenant, or a filter that always holds.
        omit: the fields that no answer has, wherever they are, with dots for fields within others.
        condition: a function that is called when the tools are collected; the endpoint is not a
            tool while the function returns False. For a feature that a setting switches on.
        tags: words that INCLUDE and EXCLUDE can match as ``tag:WORD``.
        examples: arguments of calls, each a dict; commands, the page and tests use the first.
            Without any, ``@extend_schema``'s count.
        keywords: more words by which a search finds the tool.
        untrusted: the fields of the answer that hold texts of others, with dots for nested fields.
            For letters, comments and reviews.
        required_capabilities: what a client has to declare, such as ``{"elicitation": {}}``;
            without it the call is refused with -32021 (since 2026-07-28).
        meta: the tool's ``_meta``, for clients; models do not see it (since 2025-06-18).
        icons: dicts with ``src``, ``mimeType``, ``sizes`` and ``theme`` (since 2025-11-25).
        features: the options of installed apps, by name; each is an attribute as well.
    """

    name: str | None = option(Text())
    title: str | None = option(Text(lazy=True))
    description: str | None = option(Text(lazy=True))
    read_only: bool | None = option(Flag())
    destructive: bool | None = option(Flag())
    idempotent: bool | None = option(Flag())
    open_world: bool | None = option(Flag())
    extra_query: bool | None = option(Flag())
    query: Mapping[str, Mapping[str, Any]] | None = option(SCHEMAS)
    body: Mapping[str, Mapping[str, Any]] | None = option(SCHEMAS)
    input_schema: Mapping[str, Any] | None = option(JSON_SCHEMA)
    output_schema: Any = option(Either(Choice("envelope", "full", "data"), JSON_SCHEMA), MISSING)
    portable: bool | None = option(Flag())
    many: bool | None = option(Flag())
    envelope_class: type | None = option(Class("drf_mcp.envelopes.Envelope"))
    tabular: bool | None = option(Flag())
    max_result_tokens: int | None = option(BUDGET)
    max_error_tokens: int | None = option(BUDGET)
    throttle_scope: str | None = option(Text())
    time_limit: int | None = option(Number(0))
    condition: Callable[[], bool] | None = option(Kind("a function", callable))
    tags: tuple[str, ...] = option(WORDS, ())
    examples: tuple[Mapping[str, Any], ...] = option(ListOf(JSON_OBJECT), ())
    keywords: tuple[str, ...] = option(WORDS, ())
    untrusted: tuple[str, ...] = option(WORDS, ())
    required_capabilities: Mapping[str, Any] | None = option(
        MappingOf(ANYTHING, "a dict such as {'elicitation': {}}")
    )
    meta: Mapping[str, Any] | None = option(JSON_OBJECT)
    icons: tuple[Mapping[str, Any], ...] = option(ListOf(ICON), ())
    archive: bool | None = option(Flag())
    hidden: Mapping[str, Any] | None = option(MappingOf(ANYTHING, "a dict from names to values"))
    omit: tuple[str, ...] = option(WORDS, ())
    features: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, **options: Any) -> ToolOptions:
        options = {name: value for name, value in options.items() if value is not MISSING}
        own = {name: options.pop(name) for name in options.keys() - KINDS.keys()}
        # Decorators may run before the apps are loaded, or where this package is not installed.
        if apps.apps_ready and apps.is_installed("drf_mcp"):
            check_options(own)
        refuse_wrong_values(KINDS, options, "Options of a tool")
        for name, value in options.items():
            if isinstance(KINDS[name], ListOf):
                options[name] = tuple(value)
        made = cls(**options, features=own)
        find_header_parameters(made.declared_schema)
        return made

    @property
    def declared_schema(self) -> Mapping[str, Any]:
        members = {"query": self.query, "body": self.body}
        groups = {name: {"properties": group} for name, group in members.items() if group}
        return self.input_schema or {"properties": groups}

    def __getattr__(self, name: str) -> Any:
        # Python asks for what is no field of the class: an option of an installed app.
        option = features.tool_options.get(name)
        if option is None:
            raise AttributeError(f"ToolOptions has no option {name!r}.")
        # Kept as an attribute, since each call reads it.
        value = vars(self)[name] = vars(self)["features"].get(name, option.default)
        return value

    def choose_flag(self, name: str, default: bool) -> bool:
        flag = getattr(self, name)
        return default if flag is None else bool(flag)

    def over(self, other: ToolOptions) -> ToolOptions:
        own = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        }
        own["features"] = {**other.features, **self.features}
        return dataclasses.replace(other, **own)


KINDS: Mapping[str, Kind] = {
    field.name: field.metadata["kind"]
    for field in dataclasses.fields(ToolOptions)
    if field.metadata
}


def check_options(own: Mapping[str, Any]) -> None:
    """Check the options that installed apps bring; raises ImproperlyConfigured."""
    brought = features.tool_options
    unknown = sorted(own.keys() - brought.keys())
    for name in unknown:
        if app := find_app("tool_options", name):
            raise ImproperlyConfigured(
                f"The tool option {name} is of an app: add {app!r} to INSTALLED_APPS."
            )
    if unknown:
        known = ", ".join([*KINDS, *brought])
        raise ImproperlyConfigured(
            f"Unknown tool option {', '.join(unknown)}. The options are: {known}."
        )
    kinds = {name: option.kind for name, option in brought.items()}
    refuse_wrong_values(kinds, own, "Options of a tool")


# They are asked when the tools are read off the URLconf, once for all endpoints.
CHOOSING = ("name", "condition", "many")


def check_endpoint_options(own: Mapping[str, Any]) -> None:
    """Check the options that an endpoint gives to all its tools; raises ImproperlyConfigured."""
    ToolOptions.of(**own)
    brought = {name for name, each in features.tool_options.items() if each.chooses_tools}
    for name in own.keys() & {*CHOOSING, *brought}:
        raise ImproperlyConfigured(
            f"The tool option {name} is none of an endpoint, which has the tools of all: write it "
            f"at the view, as @mcp_viewset({name}=...) or @mcp_tool({name}=...)."
        )


@dataclass(frozen=True)
class ViewOptions:
    """The options of a view, and of all its tools.

    Attributes:
        actions: the actions that are tools, or HTTP methods in lower case; None for all.
        exclude: the actions that are no tools.
        name: the noun that the names of the tools start with.
        tool: the options of each tool.
    """

    actions: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()
    name: str | None = None
    tool: ToolOptions = ToolOptions()

    @classmethod
    def of(
        cls,
        actions: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        name: str | None = None,
        **options: Any,
    ) -> ViewOptions:
        values = {"actions": actions, "exclude": exclude, "name": name}
        refuse_wrong_values(VIEW_KINDS, values, "Options of a view")
        exposed = None if actions is None else frozenset(actions)
        return cls(exposed, frozenset(exclude), name, ToolOptions.of(**options))

    def selects(self, action: str) -> bool:
        return (self.actions is None or action in self.actions) and action not in self.exclude


def mcp_tool(**options: Any) -> Callable[[Target], Target]:
    """Expose an action, an APIView class or an ``@api_view`` function as a tool.

    Takes the options of `ToolOptions`. On an action it may stand above or below
    ``@action``; on a function view it goes above ``@api_view``.
    """
    tool_options = ToolOptions.of(**options)

    def decorate(target: Target) -> Target:
        target.mcp_tool = tool_options  # type: ignore[attr-defined]
        return target

    return decorate


def mcp_viewset(
    actions: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    name: str | None = None,
    **options: Any,
) -> Callable[[type], type]:
    """Expose the actions of a viewset, or the methods of any API view class, as tools.

    Args:
        actions: the actions to expose, all by default.
        name: the noun that the tools' names start with, by default from the path.
        options: the options of `ToolOptions` but ``name``, for every tool of the class.

    A subclass is not exposed by its parent's decorator.
    """
    view_options = ViewOptions.of(actions, exclude, name, **options)

    def decorate(view_class: type) -> type:
        view_class.mcp_viewset = view_options  # type: ignore[attr-defined]
        return view_class

    return decorate


KEYWORD = "x-mcp-header"
TYPES = ("string", "integer", "boolean")
# RFC 9110, 5.6.2, without the underscore: servers and proxies drop headers that have one.
TOKEN = re.compile(r"[!#$%&'*+.^`|~0-9A-Za-z-]+")
# Keywords whose value is an object of schemas by name.
SCHEMAS_BY_NAME = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
# Keywords whose values are data.
DATA = frozenset({"default", "const", "enum", "examples", "example", "required"})
Path: TypeAlias = tuple[str, ...]


def find_header_parameters(schema: Mapping[str, Any]) -> dict[Path, str]:
    """Return the headers by the paths of their arguments.

    Raises:
        ImproperlyConfigured: on a header for which clients refuse the tool, or that shows a secret.
    """
    found: dict[Path, str] = {}
    for path, member in _find_schemas(schema, ()):
        if KEYWORD not in member:
            continue
        name, fault = member[KEYWORD], ""
        if not path:
            fault = "only a property that is reached through properties alone has a header"
        elif not isinstance(name, str) or not TOKEN.fullmatch(name):
            fault = "the name of a header consists of ASCII letters, digits and hyphens"
        elif member.get("type") not in TYPES:
            fault = f"only the types {', '.join(TYPES)} have headers"
        elif name.lower() in (other.lower() for other in found.values()):
            fault = "another argument has a header of this name"
        elif member.get("writeOnly") is True or any(
            map(sounds_secret, (path[-1], name.replace("-", "_")))
        ):
            fault = "proxies and logs see headers, which are no place for a secret"
        if fault:
            place = ".".join(path) if path else "a schema that is no property"
            raise ImproperlyConfigured(f"{KEYWORD} {name!r} of {place}: {fault}.")
        found[path or ()] = name
    return found


def _find_schemas(
    schema: Any, path: Path | None
) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    # The path is None where more than properties leads to a schema.
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword in SCHEMAS_BY_NAME and isinstance(value, Mapping):
            on_path = path is not None and keyword == "properties"
            for name, member in value.items():
                yield from _find_schemas(member, (*(path or ()), name) if on_path else None)
        elif keyword not in DATA:
            for member in value if isinstance(value, (list, tuple)) else (value,):
                yield from _find_schemas(member, None)
