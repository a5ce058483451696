from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from django.urls import Resolver404, ResolverMatch, get_resolver
from django.utils.datastructures import MultiValueDict

from drf_mcp.describers import PathKwarg
from drf_mcp.exposure import QUERY, Tool
from drf_mcp.features import Call

# Schemes that mean something else: a server with such a name gets another scheme.
TAKEN = frozenset({"data", "file", "git", "http", "https", "skill", "ui"})
# What a path may hold as it is (RFC 3986, section 3.3).
PLAIN = "/:@!$&'()*+,;=-._~"
VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class URISpace:
    """The URIs of a server's own: its name as the scheme, then the path without the host.

    Attributes:
        name: the name of the server.
    """

    name: str

    @cached_property
    def prefix(self) -> str:
        # RFC 3986, section 3.1.
        scheme = re.sub(r"[^a-z0-9+.-]+", "-", self.name.lower()).strip("-+.")
        if not scheme[:1].isalpha() or scheme in TAKEN:
            scheme = f"server-{scheme}".rstrip("-")
        return f"{scheme}://"

    def write(self, path: str) -> str:
        """Return the URI of a path, or of a whole URI the URI itself."""
        return path if "://" in path else self.prefix + quote(path.strip("/"), safe=PLAIN)

    def write_template(self, path: str, kwargs: Mapping[str, PathKwarg], query: Any = ()) -> str:
        """Return the URI template of a path such as ``/orders/{pk}/`` (RFC 6570).

        Args:
            path: the path, with the names of its kwargs in braces.
            kwargs: its kwargs.
            query: the names of its query parameters.
        """

        def write_variable(match: re.Match[str]) -> str:
            kwarg = kwargs.get(match[1])
            converter = kwarg.converter if kwarg else None
            pattern = converter.regex if converter else kwarg and kwarg.pattern
            takes_slashes = pattern and re.fullmatch(pattern, "a/b")
            return f"{{+{match[1]}}}" if takes_slashes else match[0]

        written = VARIABLE.sub(write_variable, quote(path.strip("/"), safe=PLAIN + "{}"))
        # A variable's name has letters, digits and underscores; others can be sent all the same.
        names = ",".join(name for name in query if re.fullmatch(r"\w+", name, re.ASCII))
        return f"{self.prefix}{written}{{?{names}}}" if names else self.prefix + written

    def split(self, uri: str) -> tuple[str, str] | None:
        """Return the path and the query of a URI, None if it is no URI of the server."""
        begin, rest = uri[: len(self.prefix)], uri[len(self.prefix) :]
        path, _, query = rest.partition("?")
        # No template yields an encoded slash: a value that may have slashes keeps them.
        if begin.lower() != self.prefix or "#" in rest or "%2f" in path.lower():
            return None
        try:
            return f"/{unquote(path, errors='strict')}", query
        except UnicodeDecodeError:
            return None

    def find_matches(self, uri: str, urlconf: Any) -> Iterator[tuple[ResolverMatch, str]]:
        """Yield what a URI may stand for in a URLconf, each with the query of the URI."""
        parts = self.split(uri)
        if parts is None:
            return
        path, query = parts
        # A URI ends without the slash of its path.
        paths = [path] if path == "/" else [path, f"{path}/"]
        for candidate in paths if path == "/" or not path.endswith("/") else ():
            try:
                yield get_resolver(urlconf).resolve(candidate), query
            except (Resolver404, ValueError):
                continue


JSON = "application/json"


@dataclass(frozen=True, eq=False)
class RouteResource(Tool):
    """What a tool reads, as resources: the same view, with the same permissions.

    Attributes:
        uris: the URIs of the server.
        path_kwargs, query: of the resource that is read.
    """

    uris: URISpace = field(default_factory=lambda: URISpace(""))
    path_kwargs: Mapping[str, Any] = field(default_factory=dict)
    query: str = ""

    @classmethod
    def of(cls, tool: Tool, uris: URISpace) -> RouteResource | None:
        """Return a tool as resources, None if it is none."""
        endpoint, chosen = tool.endpoint, tool.options.resource
        if endpoint.method != "GET" or not endpoint.has_http_request or endpoint.is_built_in:
            return None
        if chosen is False or (chosen is None and endpoint.standard_action != "retrieve"):
            return None
        one = _find_tool_of_one(tool) if endpoint.many else tool
        return cls(tool.name, one.endpoint, one.options, tool.related, one, uris)

    def at(self, match: ResolverMatch, query: str) -> RouteResource | None:
        route = self.endpoint.route
        if match.func is not route.callback or match.route != route.match_route:
            return None
        return replace(self, path_kwargs=route.find_captured(match), query=query)

    @property
    def tool(self) -> Tool:
        return self.origin or self

    @property
    def arguments(self) -> Any:
        return self.tool.arguments

    def bind(self, arguments: Any) -> Call:
        if not self.query:
            return Call({}, self.path_kwargs)
        query: MultiValueDict[str, str] = MultiValueDict()
        for name, text in parse_qsl(self.query, keep_blank_values=True):
            query.appendlist(name, text)
        sent = self.arguments.from_request(self.path_kwargs, query)
        # An unknown query parameter is refused with the nearest known name.
        taken = [a for a in self.arguments.arguments if a.location == QUERY and not a.whole]
        left = query.keys() - {argument.parameter.name for argument in taken}
        bound: Call = self.arguments.bind({**sent, **{name: query[name] for name in left}})
        return bound

    def sanitize_arguments(self, arguments: Any) -> Any:
        # A prompt that reads the resource has other arguments.
        is_uri = isinstance(arguments, Mapping) and "uri" in arguments
        return {"uri": arguments["uri"]} if is_uri else None

    def find_lookup(self) -> tuple[str, str] | None:
        """Return by what a row is read: the model's label and a field.

        None if the route does not read one object by a value of its own.
        """
        endpoint = self.endpoint
        model = endpoint.declared_model
        if endpoint.standard_action != "retrieve" or len(endpoint.route.kwargs) != 1 or not model:
            return None
        return model._meta.label_lower, getattr(endpoint.view_class, "lookup_field", "pk")

    # --- As the lists show it -------------------------------------------------------------------

    @property
    def details(self) -> Mapping[str, Any]:
        chosen = self.options.resource
        return chosen if isinstance(chosen, Mapping) else {}

    @property
    def is_template(self) -> bool:
        """Whether templates list it: it has path arguments, or query parameters to fill in."""
        return bool(self.endpoint.route.kwargs) or bool(self._query_names)

    @property
    def is_single(self) -> bool:
        """Whether resources list it, by a URI that needs nothing filled in."""
        return not self.endpoint.route.kwargs

    @property
    def _query_names(self) -> list[str]:
        if self.endpoint.standard_action == "retrieve":
            return []
        return [a.parameter.name for a in self.arguments.arguments if a.location == QUERY]

    @property
    def media_type(self) -> str | None:
        # None where only a response shows its type.
        if "mimeType" in self.details:
            return str(self.details["mimeType"])
        renderers = self.endpoint.find_classes("renderer_classes") or ()
        types = [renderer.media_type for renderer in renderers]
        answers_in_data = hasattr(self.endpoint.view_class, "get_serializer")
        return JSON if answers_in_data and JSON in types else None

    def get_resource(self) -> dict[str, Any]:
        """Return the members of a Resource (server/resources)."""
        return {"uri": self.uris.write(self.endpoint.route.path), **self.members}

    def make_template(self) -> dict[str, Any]:
        """Return the members of a ResourceTemplate (server/resources)."""
        return {"uriTemplate": self.uri_template, **self.members}

    @property
    def uri_template(self) -> str:
        route = self.endpoint.route
        return self.uris.write_template(route.path, route.kwargs, self._query_names)

    @property
    def members(self) -> dict[str, Any]:
        members = {
            "name": self.name,
            "title": self.tool.title,
            "description": self.tool.description,
            "mimeType": self.media_type,
            "icons": self.options.icons,
            **self.details,
        }
        return {name: value for name, value in members.items() if value}


def _find_tool_of_one(tool: Tool) -> Tool:
    # A URI names one object, also where the tool takes several. It is described once.
    endpoint, options = tool.endpoint, tool.options
    one = replace(tool, endpoint=replace(endpoint, many=None), options=replace(options, many=None))
    kept: Tool = vars(tool).setdefault("of_one", one)
    return kept
