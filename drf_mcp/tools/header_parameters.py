"""Arguments that clients repeat in HTTP headers (2026-07-28, server/tools, "x-mcp-header")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from django.core.exceptions import ImproperlyConfigured

from drf_mcp.introspection.names import sounds_secret

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


class HeaderParameters(dict[Path, str]):
    # The headers by the paths of their arguments. Clients refuse a tool with a wrong header.
    def __init__(self, schema: Mapping[str, Any]) -> None:
        super().__init__()
        for path, member in self.walk(schema, ()):
            if KEYWORD not in member:
                continue
            name = member[KEYWORD]
            if fault := self.find_fault(path, member):
                place = ".".join(path) if path else "a schema that is no property"
                raise ImproperlyConfigured(f"{KEYWORD} {name!r} of {place}: {fault}.")
            self[path or ()] = name

    def find_fault(self, path: Path | None, schema: Mapping[str, Any]) -> str:
        name = schema[KEYWORD]
        if not path:
            return "only a property that is reached through properties alone has a header"
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            return "the name of a header consists of ASCII letters, digits and hyphens"
        if schema.get("type") not in TYPES:
            return f"only the types {', '.join(TYPES)} have headers"
        if name.lower() in (other.lower() for other in self.values()):
            return "another argument has a header of this name"
        words = (path[-1], name.replace("-", "_"))
        if any(map(sounds_secret, words)) or schema.get("writeOnly") is True:
            return "proxies and logs see headers, which are no place for a secret"
        return ""

    def walk(
        self, schema: Any, path: Path | None
    ) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
        if not isinstance(schema, Mapping):
            return
        yield path, schema
        for keyword, value in schema.items():
            if keyword in SCHEMAS_BY_NAME and isinstance(value, Mapping):
                on_path = path is not None and keyword == "properties"
                for name, member in value.items():
                    yield from self.walk(member, (*(path or ()), name) if on_path else None)
            elif keyword not in DATA:
                for member in value if isinstance(value, (list, tuple)) else (value,):
                    yield from self.walk(member, None)
