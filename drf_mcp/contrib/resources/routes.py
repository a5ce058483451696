from __future__ import annotations

import json
import mimetypes
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from django.core.exceptions import ImproperlyConfigured
from django.urls import Resolver404, ResolverMatch, get_resolver
from django.utils.datastructures import MultiValueDict

from drf_mcp.describers import DescribedField, PathKwarg
from drf_mcp.exposure import QUERY, Tool
from drf_mcp.features import JSON_OBJECT, Call, Choice, Kind, ListOf, MembersOf, Text
from drf_mcp.option_types.kinds import ICON, refuse_wrong_values

# Schemes that mean something else: a server with such a name gets another scheme.
TAKEN = frozenset({"data", "file", "git", "http", "https", "skill", "ui"})
# What a path may hold as it is (RFC 3986, section 3.3).
PLAIN = "/:@!$&'()*+,;=-._~"
VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class URISpace:
    """The URIs of a server's own: its name as the scheme, then the path without the host."""

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
        """Return the URI template of a path such as ``/orders/{pk}/`` (RFC 6570)."""

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
        # A URI has all arguments in it.
        if tool.options.hidden:
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

    def bind(self, arguments: Any, caller: Any = None) -> Call:
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


# ISO 8601, as far as it names a moment: clients refuse a whole list for another text.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?")
ANNOTATIONS = MembersOf(
    "a dict with any of audience (['user', 'assistant'] or one of them), priority (0 to 1) and "
    "lastModified ('2026-07-28T12:00:00Z')",
    {
        "audience": ListOf(Choice("user", "assistant")),
        "priority": Kind("0 to 1", lambda value: type(value) in (int, float) and 0 <= value <= 1),
        "lastModified": Kind("a moment", lambda v: bool(MOMENT.fullmatch(str(v)))),
    },
)
KINDS: Mapping[str, Kind] = {
    "path": Text(),
    "title": Text(lazy=True).or_none(),
    "description": Text(lazy=True).or_none(),
    "mime_type": Text().or_none(),
    "annotations": ANNOTATIONS.or_none(),
    "icons": ListOf(ICON),
    "meta": JSON_OBJECT.or_none(),
}
# The types of texts that Python's table knows on some machines alone.
TYPES = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml"}


class Document:
    """A text or a file that every caller of the endpoint may read.

    ``registry.add(Document("guides/returns", file=HERE / "returns.md"))`` serves it.

    Args:
        path: the URI after the scheme of the server, such as ``guides/returns``; or a whole URI.
        content: text, bytes, or a function without arguments that returns one of them.
        file: in place of the content, a file; it is read anew each time.
        name: by default the last part of the path.
        title, description: for people and models, texts that may be translated.
        mime_type: by default guessed by the file's name, for a text ``text/plain``.
        annotations: ``audience``, ``priority`` and ``lastModified``, which a file says itself.
        icons, meta: as of a tool.

    Raises:
        ImproperlyConfigured: on an argument of a wrong kind, or unless there is either content
            or a file.
    """

    # A caller has to see one of these tools to read the document.
    tools: tuple[Any, ...] = ()

    def __init__(
        self,
        path: str,
        content: str | bytes | Callable[[], str | bytes] | None = None,
        *,
        file: str | Path | None = None,
        name: str | None = None,
        mime_type: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        if (content is None) is (file is None):
            raise ImproperlyConfigured(f"Document({path!r}) needs either content or a file.")
        self.path = path
        self.content = content
        self.file = None if file is None else Path(file)
        if self.file is not None and not self.file.is_file():
            raise ImproperlyConfigured(f"Document({path!r}): there is no file {self.file}.")
        self.name = name or path.rstrip("/").rpartition("/")[2]
        self.meta = meta
        self.details = self._read_details(mime_type, **details)
        values = {**self.details, "path": path, "mime_type": mime_type, "meta": meta}
        refuse_wrong_values(KINDS, values, f"Document({path!r})")
        self.media_type = mime_type or self.guess_type()

    def _read_details(
        self,
        mime_type: str | None,
        title: Any = None,
        description: Any = None,
        annotations: Mapping[str, Any] | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        known = {"title": title, "description": description, "icons": icons}
        return {**known, "annotations": annotations}

    def guess_type(self) -> str:
        if self.file is not None:
            known = TYPES.get(self.file.suffix) or mimetypes.guess_type(self.file.name)[0]
            return known or "application/octet-stream"
        return "application/octet-stream" if isinstance(self.content, bytes) else "text/plain"

    def read(self) -> str | bytes:
        """Return the content."""
        if self.file is None:
            given: Any = self.content
            content: str | bytes = given() if callable(given) else given
            return content
        raw = self.file.read_bytes()
        try:
            return raw.decode() if self._is_text else raw
        except UnicodeDecodeError:
            return raw

    @property
    def is_fixed(self) -> bool:
        """Whether every caller reads the same; a function may look at the language."""
        return not callable(self.content)

    @property
    def _is_text(self) -> bool:
        kind = self.media_type.partition(";")[0]
        return kind.startswith("text/") or kind.endswith(("json", "xml", "yaml", "javascript"))

    @property
    def size(self) -> int | None:
        """The bytes of the content, None where only reading it would tell."""
        if self.file is not None:
            return self.file.stat().st_size
        if callable(self.content) or self.content is None:
            return None
        content = self.content
        return len(content.encode() if isinstance(content, str) else content)

    @property
    def annotations(self) -> Mapping[str, Any] | None:
        own: Mapping[str, Any] = self.details["annotations"] or {}
        if self.file is None:
            return own
        modified = datetime.fromtimestamp(int(self.file.stat().st_mtime), UTC)
        return {"lastModified": modified.isoformat().replace("+00:00", "Z"), **own}

    def make_uri(self, uris: URISpace) -> str:
        return uris.write(self.path)

    def get_resource(self, uris: URISpace) -> dict[str, Any]:
        """Return the members of a Resource (server/resources)."""
        members = {
            "uri": self.make_uri(uris),
            "name": self.name,
            "mimeType": self.media_type,
            **self.details,
            "annotations": self.annotations,
            "_meta": self.meta,
        }
        known = {name: value for name, value in members.items() if value}
        return known if self.size is None else {**known, "size": self.size}

    def sanitize_arguments(self, arguments: Any) -> Any:
        return arguments


class Folder(ABC):
    """Documents that belong together: one is listed, each can be read."""

    @property
    @abstractmethod
    def main(self) -> Document:
        """The document that is listed."""

    @abstractmethod
    def get_document(self, uri: str) -> Document | None:
        """Return the document of a URI, None if it is none of the folder's."""


class SchemaDocument(Document):
    """The JSON Schema of what a serializer takes, for people and models who write its data.

    Args:
        serializer_class: the serializer.
        path: by default ``schemas/`` and the name of the class without ``Serializer``.
        details: as of `Document`.
    """

    def __init__(self, serializer_class: type, path: str | None = None, **details: Any) -> None:
        self.serializer_class = serializer_class
        noun = serializer_class.__name__.removesuffix("Serializer").lower()
        details.setdefault("mime_type", "application/schema+json")
        super().__init__(path or f"schemas/{noun}", self.write, **details)

    def write(self) -> str:
        schema = DescribedField(self.serializer_class()).accepted_schema
        dialect = "https://json-schema.org/draft/2020-12/schema"
        return json.dumps({"$schema": dialect, **schema}, indent=2, ensure_ascii=False, default=str)
