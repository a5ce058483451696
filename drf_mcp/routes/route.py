"""The routes of a URLconf that lead to API views, and the paths of a route."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, URLResolver, get_resolver
from django.utils.regex_helper import normalize
from django.views.generic import View
from rest_framework.views import APIView

from drf_mcp.introspection.types import PathKwarg

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
Templates: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The templates of a path, as ``%(name)s``, each with the names of its parameters."""
Chain: TypeAlias = tuple[Any, ...]
"""The patterns of a URLconf that lead to a view, the outermost first."""


@dataclass(frozen=True)
class Route:
    """One URL pattern whose callback is a view."""

    urlconf: Any
    chain: Chain
    callback: Callable[..., Any]

    @property
    def view_class(self) -> type[APIView]:
        view_class: type[APIView] = self.callback.cls  # type: ignore[attr-defined]
        return view_class

    @property
    def initkwargs(self) -> Mapping[str, Any]:
        return getattr(self.callback, "initkwargs", {})

    @property
    def actions(self) -> Mapping[str, str]:
        return getattr(self.callback, "actions", None) or {}

    @property
    def methods(self) -> Iterator[str]:
        known = View.http_method_names
        own = self.view_class.http_method_names
        # The method names of an @api_view come from a set, whose order differs by process.
        order = [*filter(set(own).__contains__, known), *sorted(set(own) - set(known))]
        allowed = self.initkwargs.get("http_method_names", own)
        for method in self.actions or order:
            if method in allowed and (self.actions or hasattr(self.view_class, method)):
                yield method

    @property
    def match_route(self) -> str:
        # In the active language, as the templates.
        route = str(self.chain[-1])
        for pattern in reversed(self.chain[1:-1]):
            if parent := str(pattern):
                route = parent + route.removeprefix("^")
        return route

    @property
    def templates(self) -> Templates:
        return _find_templates(_join_regexes(self.chain))

    @functools.cached_property
    def kwargs(self) -> dict[str, PathKwarg]:
        converters: dict[str, Any] = {}
        for pattern in self.chain:
            converters.update(getattr(pattern, "converters", {}))
        groups = "".join(pattern.regex.pattern for pattern in self.chain)
        names = dict.fromkeys(name for _, names in self.templates for name in names)
        required = {name for name in names if all(name in each for _, each in self.templates)}
        return {
            name: PathKwarg(
                name, converters.get(name), _find_group_pattern(groups, name), name in required
            )
            for name in names
        }

    @functools.cached_property
    def path(self) -> str:
        template = max(self.templates, key=lambda template: len(template[1]))[0]
        return PLACEHOLDER.sub(r"{\1}", template)

    def build(self, kwargs: Mapping[str, Any]) -> str | None:
        texts = {}
        for name, value in kwargs.items():
            converter = self.kwargs[name].converter
            try:
                texts[name] = str(
                    value
                    if converter is None or isinstance(value, str)
                    else converter.to_url(value)
                )
            except (ValueError, TypeError, AttributeError):
                return None
        for template, names in self.templates:
            if len(names) == len(texts) and texts.keys() >= set(names):
                if not names:
                    return template
                return PLACEHOLDER.sub(lambda match: texts[match[1]], template)
        return None

    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        """Return the match of a path with this route, None if the path leads to another view."""
        # So a value such as ``../admin`` or ``1/delete`` reaches no other view.
        resolver = get_resolver(getattr(request, "urlconf", None) or self.urlconf)
        try:
            match = resolver.resolve(path)
            expected = {name: self.convert(name, value) for name, value in kwargs.items()}
        except (Resolver404, ValueError):
            return None
        if match.func is not self.callback or match.route != self.match_route:
            return None
        captured = self.find_captured(match)
        if fixed := match.extra_kwargs:  # type: ignore[attr-defined]
            expected = {name: value for name, value in expected.items() if name not in fixed}
        return match if captured == expected else None

    def find_captured(self, match: ResolverMatch) -> dict[str, Any]:
        """Return the kwargs of a match that come from the path."""
        # `captured_kwargs` has the kwargs of the last pattern only.
        captured = match.kwargs
        if fixed := match.extra_kwargs:  # type: ignore[attr-defined]
            captured = {name: value for name, value in captured.items() if name not in fixed}
        if not match.args:
            return captured
        return captured or dict(zip(self.kwargs, match.args, strict=False))

    def convert(self, name: str, value: Any) -> Any:
        converter = self.kwargs[name].converter
        if converter is None:
            return str(value)
        text = value if isinstance(value, str) else str(converter.to_url(value))
        return converter.to_python(text)


@functools.lru_cache(maxsize=4096)
def _find_templates(regex: str) -> Templates:
    return tuple((template, tuple(names)) for template, names in normalize(regex))


def _join_regexes(chain: Chain) -> str:
    return "".join(pattern.regex.pattern.removeprefix("^") for pattern in chain)


def _find_group_pattern(regex: str, name: str) -> str | None:
    start = regex.find(f"(?P<{name}>")
    if start < 0:
        return None
    start += len(name) + 5
    depth, position = 1, start
    while depth and position < len(regex):
        if regex[position] == "\\":
            position += 1
        elif regex[position] == "(":
            depth += 1
        elif regex[position] == ")":
            depth -= 1
        position += 1
    return regex[start : position - 1]


def find_routes(urlconf: Any) -> Iterator[Route]:
    # Of two patterns with the same regular expression Django uses the first.
    patterns: dict[str, tuple[Any, Any]] = {}
    for chain, callback in _walk_patterns(get_resolver(urlconf), ()):
        patterns.setdefault(_join_regexes(chain), (chain, callback))
    for chain, callback in patterns.values():
        view_class = getattr(callback, "cls", None)
        if isinstance(view_class, type) and issubclass(view_class, APIView):
            yield Route(urlconf, chain, callback)


def _walk_patterns(resolver: URLResolver, parents: Chain) -> Iterator[tuple[Any, Any]]:
    chain = (*parents, resolver.pattern)
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _walk_patterns(entry, chain)
        else:
            yield (*chain, entry.pattern), entry.callback
