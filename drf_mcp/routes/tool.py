from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from django.http import HttpRequest
from django.urls import ResolverMatch
from django.urls.resolvers import RegexPattern, RoutePattern
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from drf_mcp.access.authentication import copy_identity
from drf_mcp.arguments.binding import Arguments
from drf_mcp.arguments.call import Call
from drf_mcp.arguments.errors import (
    MASK,
    ArgumentsRefused,
    KnownNames,
    missing_argument,
    not_an_object,
    shorten_value,
)
from drf_mcp.arguments.pointers import ArgumentPointers
from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_selection import Omission, SelectableFields
from drf_mcp.introspection.findings import Finding
from drf_mcp.introspection.inspection import Inspection, keep_schema, read_rows
from drf_mcp.introspection.portable import LONGEST_DESCRIPTION, write_listed, write_portable
from drf_mcp.introspection.text import clean_lines
from drf_mcp.introspection.types import EndpointSchema, Parameter
from drf_mcp.json_text import OBJECTS, parse_json_text
from drf_mcp.option_types.installed import features
from drf_mcp.option_types.spelling import join_alternatives
from drf_mcp.outcomes import Problem
from drf_mcp.routes.declared import DeclaredArguments, ToolHints
from drf_mcp.routes.endpoint import Endpoint
from drf_mcp.routes.options import KEYWORD, ToolOptions, find_header_parameters
from drf_mcp.routes.related import ArgumentSources, RelatedTools
from drf_mcp.routes.route import Route
from drf_mcp.settings import mcp_settings, override_language

IDEMPOTENT_METHODS = frozenset({"GET", "PUT", "DELETE"})
# What every client takes as the name of a tool.
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MAX_NAME_LENGTH = 64
DESCRIBING = threading.RLock()
# The cached properties that are made of the description of the view.
DESCRIBED = (
    "view_schema",
    "schema",
    "arguments",
    "input_schema",
    "header_parameters",
    "hints",
    "description",
    "definitions",
)


@dataclass(frozen=True, eq=False)
class Tool:
    """One endpoint as a tool. Nothing is introspected before it is needed.

    Attributes:
        related: the `RelatedTools` of the same registry, which its description may name.
        origin: the tool of the whole registry, if this tool is one of a narrowed set.
    """

    name: str
    endpoint: Endpoint
    options: ToolOptions
    related: Any
    origin: Tool | None = field(default=None, repr=False)

    def for_endpoint(self, endpoint: Endpoint) -> Tool:
        """Return a tool for another endpoint with the same options, which is not listed."""
        return replace(self, endpoint=endpoint)

    @functools.cached_property
    def view(self) -> APIView:
        """A view instance to introspect, marked so that views know there is no caller."""
        return self.endpoint.introspected_view()

    @functools.cached_property
    @override_language()
    def schema(self) -> EndpointSchema:
        own = vars(self)
        # With a cached property alone, two threads could describe the endpoint at the same time.
        with DESCRIBING:
            if "schema" not in own:
                own["schema"] = self.describe()
            schema: EndpointSchema = own["schema"]
        return schema

    @property
    def is_portable(self) -> bool:
        return self.options.choose_flag("portable", mcp_settings.PORTABLE)

    @functools.cached_property
    def view_schema(self) -> EndpointSchema:
        # The view is described once, however its tool is narrowed.
        if self.origin is not None:
            return self.origin.view_schema
        write = write_portable if self.is_portable else keep_schema
        inspection = Inspection(self.view, self.endpoint.method, write_schema=write)
        describer = mcp_settings.DESCRIBER_CLASS(inspection, self.endpoint.route.kwargs)
        schema: EndpointSchema = describer.describe()
        vars(self)["_rows"] = read_rows(schema.row_queries)
        return schema

    def renew(self) -> int:
        """Describe the tool anew where choices of arguments are rows, and the rows others by now.

        Returns how often that was.
        """
        own = vars(self)
        times: int = own.get("_renewed", 0)
        if self.origin is not None:
            now = self.origin.renew()
        else:
            described = own.get("view_schema")
            asked = described.row_queries if described is not None else ()
            now = times + (bool(asked) and read_rows(asked) != own["_rows"])
        if now != times:
            own["_renewed"] = now
            for name in ("view", *DESCRIBED):
                own.pop(name, None)
        return now

    def describe(self) -> EndpointSchema:
        schema = ArgumentSources(self.related, self.endpoint).explain(self.view_schema)
        schema = DeclaredArguments(self.options, portable=self.is_portable).add_to(schema)
        if self.options.omit:
            schema = replace(schema, output=self.omission.leave_out_of_schema(schema.output))
        if hidden := self.options.hidden:
            query = (replace(p, listed=p.listed and p.name not in hidden) for p in schema.query)
            schema = replace(schema, query=tuple(query))
        return schema.with_many_answers() if self.endpoint.many else schema

    @functools.cached_property
    def omission(self) -> Omission:
        return Omission(self.options.omit)

    @functools.cached_property
    @override_language()
    def arguments(self) -> Arguments:
        arguments = Arguments(self)
        for finish in features.hooks["finish_arguments"]:
            finish(arguments, self)
        return arguments

    @functools.cached_property
    def slots(self) -> dict[Any, Any]:
        """What features keep of the tool."""
        return {}

    @functools.cached_property
    def controls(self) -> tuple[Parameter, ...]:
        """The arguments that guards read, each under the guard's name."""
        return tuple(each for get in features.hooks["get_controls"] for each in get(self))

    @property
    def extra_query(self) -> bool:
        return self.options.choose_flag("extra_query", mcp_settings.EXTRA_QUERY)

    @property
    def takes_fields(self) -> bool:
        # In an open query ``fields`` may be a parameter of the view.
        return (
            mcp_settings.FIELDS_ARGUMENT
            and self.endpoint.method == "GET"
            and not self.endpoint.is_built_in
            and self.options.input_schema is None
            and not self.extra_query
        )

    @functools.cached_property
    def input_schema(self) -> dict[str, Any]:
        """The input schema as lists show it."""
        known = self.known_schema
        is_own = self.options.input_schema is not None
        return write_listed(known) if self.is_portable and not is_own else known

    @property
    def known_schema(self) -> dict[str, Any]:
        """The input schema with all that is known of values, such as the choices of a number."""
        own = self.options.input_schema
        return self.hints.add_to_schema(self.arguments.schema) if own is None else dict(own)

    @functools.cached_property
    def hints(self) -> ToolHints:
        return ToolHints(self)

    def find_unknown_fields(self, paths: Iterable[str]) -> Iterable[str]:
        """Yield the paths that lead to no field of the answer."""
        return SelectableFields(self.schema.output).find_unknown(paths)

    @functools.cached_property
    def header_parameters(self) -> Mapping[tuple[str, ...], str]:
        """The headers in which clients repeat arguments, by the paths of the arguments."""
        if KEYWORD not in str(self.options.declared_schema):
            return {}
        return find_header_parameters(self.input_schema)

    @functools.cached_property
    @override_language()
    def description(self) -> str:
        own = str(self.options.description or "")
        made = own or attempt(self.compose_description, self.title)
        # OpenAI refuses more, and the examples stay.
        room = LONGEST_DESCRIPTION - len(self.hints.add_to_description(""))
        return self.hints.add_to_description(clean_lines(made, max(room, 0)))

    def compose_description(self) -> str:
        return str(mcp_settings.NAMING_CLASS().get_description(self))

    @functools.cached_property
    @override_language()
    def title(self) -> str:
        title = str(self.options.title or "") or attempt(self.compose_title, "")
        return title or self.name.replace("_", " ").capitalize()

    def compose_title(self) -> str:
        return str(mcp_settings.NAMING_CLASS().get_title(self.endpoint, self.view))

    @functools.cached_property
    def annotations(self) -> dict[str, Any]:
        # Only a read and a plain create are known to destroy nothing.
        endpoint, options = self.endpoint, self.options
        read_only = options.choose_flag("read_only", endpoint.method == "GET")
        creates = endpoint.method == "POST" and endpoint.standard_action == "create"
        repeatable = read_only or endpoint.method in IDEMPOTENT_METHODS
        return {
            "readOnlyHint": read_only,
            "destructiveHint": options.choose_flag("destructive", not (read_only or creates)),
            "idempotentHint": options.choose_flag("idempotent", repeatable),
            "openWorldHint": options.choose_flag("open_world", False),
        }

    @property
    def reads(self) -> bool:
        # Not PUT, PATCH and DELETE, whatever their options say.
        return self.endpoint.method in ("GET", "POST") and bool(self.annotations["readOnlyHint"])

    def matches(self, patterns: Iterable[str]) -> bool:
        """Return whether one of the patterns matches the tool."""
        return self.endpoint.matches(patterns, self.name, self.options.tags)

    @functools.cached_property
    def definitions(self) -> dict[Any, bytes]:
        # The definition as JSON, by revision, envelope class and OUTPUT_SCHEMA.
        return {}

    @property
    def list_tool(self) -> str | None:
        return self.related.find_nearest_list(self.endpoint.route.path)  # type: ignore[no-any-return]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.schema.findings, *self.hints.findings)

    def definition(self, output_schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the tool as ``tools/list`` shows it (specification, server/tools)."""
        definition: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": self.annotations,
        }
        if output_schema is not None:
            definition["outputSchema"] = output_schema
        if self.options.icons:
            definition["icons"] = self.options.icons
        meta = self.hints.meta
        for get_members in features.hooks["get_definition_members"]:
            members = dict(get_members(self))
            meta.update(members.pop("_meta", {}))
            definition.update(members)
        for name, own in (self.options.meta or {}).items():
            brought = meta.get(name)
            if isinstance(own, Mapping) and isinstance(brought, Mapping):
                own = {**brought, **own}
            meta[name] = own
        if meta:
            definition["_meta"] = meta
        return definition

    def advise(self, problem: Problem) -> Problem:
        """Return a problem with the actions that may change a field which is read-only."""
        actions = self.related.find_actions(self.endpoint) if problem.code == "read_only" else ()
        if not actions:
            return problem
        text = f"Leave it out. {join_alternatives(actions)} may change it."
        return replace(problem, remediation=text)

    def bind(self, arguments: Any, caller: Any = None) -> Call:
        arguments = {} if arguments is None else arguments
        if type(arguments) is not dict and not isinstance(arguments, Mapping):
            raise ArgumentsRefused([not_an_object(arguments)])
        return self.arguments.bind(arguments, caller)

    def pointers(self, call: Call) -> ArgumentPointers:
        return ArgumentPointers(self.arguments, call)

    def sanitize_arguments(self, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):
            return None if arguments is None else MASK
        # Shortened first: to look through all that a caller sent may take seconds.
        shown = self.arguments.use_own_names(shorten_value(arguments))
        return self.pointers(Call(shown)).mask(shown, "", self.arguments.full_schema)


# --- Tools of the server's own, to which no URL leads ---------------------------------------------


class ServerToolView(APIView):
    """The view of a tool to which no URL leads.

    The endpoint has authenticated the caller, and asked its permissions.
    """

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [JSONRenderer]
    versioning_class = None
    # The project's own schemas do not describe it.
    schema = None

    def perform_authentication(self, request: Request) -> None:
        copy_identity(request, request._request.caller.authenticate())  # type: ignore[attr-defined]


class ServerRoute(Route):
    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        return ResolverMatch(self.callback, (), {}, route=self.match_route)


class ServerEndpoint(Endpoint):
    has_http_request = False


class ServerTool(Tool):
    """A tool of the server's own, whose view is called like the view of a route.

    `ToolSource.get_tools` returns such tools.
    """

    @classmethod
    def make(
        cls,
        name: str,
        view_class: type[APIView] = ServerToolView,
        method: str = "GET",
        **options: Any,
    ) -> Self:
        """Return a tool.

        Args:
            name: the name of the tool.
            view_class: answers the calls, by the handler of the method.
            method: the HTTP method; a tool of another method than GET changes something.
            options: as of `mcp_tool`; ``title``, ``description`` and the arguments, ``query``,
                ``body`` or ``input_schema``.
        """
        patterns = (RegexPattern(r"^/"), RoutePattern(f"mcp/{name}", is_endpoint=True))
        endpoint = ServerEndpoint(ServerRoute(None, patterns, view_class.as_view()), method, None)
        return cls(name, endpoint, ToolOptions.of(**options), RelatedTools({}))


@dataclass(frozen=True, eq=False)
class RedirectingTool(ServerTool):
    """A tool whose calls become calls of another tool, by `CallState.redirect`.

    Attributes:
        naming: the argument that names the other tool.
        holder: the argument with the arguments of the other tool.
        problems: why a call cannot become a call of another tool.
    """

    naming: ClassVar[str]
    holder: ClassVar[str]
    problems: tuple[Problem, ...] = ()

    controls = ()

    def read(self, arguments: Any) -> tuple[dict[str, Any], list[Problem]]:
        """Return the arguments of a call, and their problems."""
        sent = {} if arguments is None else arguments
        if not isinstance(sent, OBJECTS):
            return {}, [not_an_object(sent)]
        # Some clients send an object as a string.
        inner = parse_json_text(sent.get(self.holder), dict)
        known = (self.naming, self.holder)
        problems = KnownNames(known, holders=[self.holder]).check(sent)
        if inner is not None and not isinstance(inner, OBJECTS):
            problems.insert(0, not_an_object(inner, f"/{self.holder}"))
        if sent.get(self.naming) is None:
            problems.insert(0, missing_argument(f"/{self.naming}"))
        return {**sent, self.holder: inner}, problems

    def bind(self, arguments: Any, caller: Any = None) -> Call:
        # Only a call that could not be redirected is bound.
        raise ArgumentsRefused(self.problems)

    def refusing(self, *problems: Problem) -> Self:
        """Return the tool with the problems of a call, which its `bind` raises."""
        return replace(self, problems=problems)

    def sanitize_arguments(self, arguments: Any) -> Any:
        # Only the other tool knows which of its arguments are secret.
        if not isinstance(arguments, Mapping):
            return None if arguments is None else MASK
        shown = str(arguments.get(self.naming))[:128]
        return {name: shown if name == self.naming else MASK for name in arguments}
