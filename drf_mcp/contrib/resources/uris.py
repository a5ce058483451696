from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from django.urls import Resolver404, ResolverMatch, get_resolver

from drf_mcp.introspection.types import PathKwarg

# Schemes with a meaning of their own: a server of such a name has another.
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
            return f"{{+{match[1]}}}" if kwarg and takes_slashes(kwarg) else match[0]

        written = VARIABLE.sub(write_variable, quote(path.strip("/"), safe=PLAIN + "{}"))
        # A variable's name has letters, digits and underscores; others can be sent all the same.
        names = ",".join(name for name in query if re.fullmatch(r"\w+", name, re.ASCII))
        return f"{self.prefix}{written}{{?{names}}}" if names else self.prefix + written

    def split(self, uri: str) -> tuple[str, str] | None:
        """Return the path and the query of a URI, None if it is no URI of the server."""
        begin, rest = uri[: len(self.prefix)], uri[len(self.prefix) :]
        path, _, query = rest.partition("?")
        # An encoded slash is none of the template's: no value holds one but where it is as it is.
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


def takes_slashes(kwarg: PathKwarg) -> bool:
    pattern = kwarg.converter.regex if kwarg.converter else kwarg.pattern
    return pattern is not None and bool(re.fullmatch(pattern, "a/b"))
