"""Routes of a URLconf whose views are API views, and the paths that lead to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeAlias

from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern, RoutePattern
from django.utils.regex_helper import normalize
from django.views.generic import View
from rest_framework.views import APIView

from drf_mcp.introspection.types import PathKwarg

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
Templates: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The templates of a path, as ``%(name)s``, each with the names of its parameters."""


@dataclass(frozen=True)
class Route:
    """One URL pattern whose callback is a view; `chain` has the patterns that include it first."""

    urlconf: Any
    chain: tuple[Any, ...]
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
        # In the active language.
        return (self.constant_spelling or self.get_spelling())[0]

    @property
    def templates(self) -> Templates:
        return (self.constant_spelling or self.get_spelling())[1]

    @functools.cached_property
    def constant_spelling(self) -> tuple[str, Templates] | None:
        """``match_route`` and ``templates``, None where a pattern is translated."""
        return self.get_spelling() if all(map(is_constant_pattern, self.chain)) else None

    def get_spelling(self) -> tuple[str, Templates]:
        route = str(self.chain[-1])
        for pattern in reversed(self.chain[1:-1]):
            if parent := str(pattern):
                route = parent + route.removeprefix("^")
        regex = join_regexes(pattern.regex.pattern for pattern in self.chain)
        return route, find_templates(regex)

    @functools.cached_property
    def kwargs(self) -> dict[str, PathKwarg]:
        converters: dict[str, Any] = {}
        for pattern in self.chain:
            converters.update(getattr(pattern, "converters", {}))
        groups = "".join(pattern.regex.pattern for pattern in self.chain)
        names = dict.fromkeys(name for _, names in self.templates for name in names)
        return {
            name: PathKwarg(name, converters.get(name), find_group_pattern(groups, name))
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
                return PLACEHOLDER.sub(lambda match: texts[match[1]], template)
        return None

    def match(
        self, path: str, kwargs: Mapping[str, Any], request: HttpRequest
    ) -> ResolverMatch | None:
        # A value such as ``../admin`` or ``1/delete`` is harmless because the path has to lead to
        # this route.
        resolver = get_resolver(getattr(request, "urlconf", None) or self.urlconf)
        try:
            match = self.resolve(resolver, path)
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
        """Return the values that a match of the route took from the path, by kwarg."""
        # `captured_kwargs` has only those of the last pattern.
        captured = match.kwargs
        if fixed := match.extra_kwargs:  # type: ignore[attr-defined]
            captured = {name: value for name, value in captured.items() if name not in fixed}
        return captured or dict(zip(self.kwargs, match.args, strict=False))

    def resolve(self, resolver: URLResolver, path: str) -> ResolverMatch:
        # Resolving walks the whole URLconf, so its result is reused: for a path without arguments,
        # and for paths with arguments that no earlier route can take.
        captured = self.capture(resolver, path) if self.kwargs else ({}, {})
        if captured is None:
            return resolver.resolve(path)
        place = "" if self.kwargs else path
        known = self.known_matches.get(place)
        if known is None or known[0] is not resolver:
            known = self.known_matches[place] = (resolver, resolver.resolve(path))
        fixed = known[1].extra_kwargs  # type: ignore[attr-defined]
        if fixed and not fixed.keys().isdisjoint(captured[0]):
            return resolver.resolve(path)
        # `copy` cannot copy a match.
        match: ResolverMatch = object.__new__(ResolverMatch)
        match.__dict__.update(
            known[1].__dict__, kwargs={**fixed, **captured[0]}, captured_kwargs=captured[1]
        )
        return match

    def capture(
        self, resolver: URLResolver, path: str
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        # The kwargs that all patterns of the chain take from a path, and those of the last one;
        # None where another route might take the path.
        rivals = self.rivals if resolver.pattern is self.chain[0] else None
        if rivals is None or rivals.match(path):
            return None
        captured: dict[str, Any] = {}
        own: dict[str, Any] = {}
        beginning, patterns = self.beginning
        if not path.startswith(beginning):
            return None
        path = path.removeprefix(beginning)
        for pattern in patterns:
            found = pattern.match(path)
            # Groups without names share their numbers with those of other patterns.
            if found is None or found[1]:
                return None
            path, _, own = found
            captured.update(own)
        return captured, own

    @functools.cached_property
    def beginning(self) -> tuple[str, tuple[Any, ...]]:
        # The text that each path begins with, and the patterns of the rest: the first pattern
        # matches a slash, and those of includes are mostly words.
        if str(self.chain[0]) != "^/":
            return "", self.chain
        text, number = "/", 1
        for pattern in self.chain[1:-1]:
            if type(pattern) is not RoutePattern or pattern.converters:
                break
            text, number = text + str(pattern), number + 1
        return text, self.chain[number:]

    @functools.cached_property
    def rivals(self) -> re.Pattern[str] | None:
        return find_rivals(get_resolver(self.urlconf), self.chain)

    @functools.cached_property
    def known_matches(self) -> dict[str, tuple[URLResolver, ResolverMatch]]:
        # By path, which may differ by language; "" is any path with arguments.
        return {}

    def convert(self, name: str, value: Any) -> Any:
        converter = self.kwargs[name].converter
        if converter is None:
            return str(value)
        text = value if isinstance(value, str) else str(converter.to_url(value))
        return converter.to_python(text)


@functools.lru_cache(maxsize=4096)
def find_templates(regex: str) -> Templates:
    return tuple((template, tuple(names)) for template, names in normalize(regex))


def join_regexes(regexes: Iterable[str]) -> str:
    return "".join(regex.removeprefix("^") for regex in regexes)


def find_group_pattern(regex: str, name: str) -> str | None:
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
    # Django resolves only the first of two patterns with the same regular expression.
    patterns: dict[str, tuple[Any, Any]] = {}
    for chain, callback in walk_patterns(get_resolver(urlconf), ()):
        regex = join_regexes(pattern.regex.pattern for pattern in chain)
        patterns.setdefault(regex, (chain, callback))
    for chain, callback in patterns.values():
        view_class = getattr(callback, "cls", None)
        if isinstance(view_class, type) and issubclass(view_class, APIView):
            yield Route(urlconf, chain, callback)


# The literal beginning of a regular expression, without a character that may repeat.
LITERAL = re.compile(r"(?:(?:[^\\.^$*+?{}\[\]|()]|\\[^\w\s])(?![*?{]))*")
GROUP_NAME = re.compile(r"\(\?P<\w+>")
# Parts that change their meaning when expressions are joined: flags, references, and assertions
# about the beginning of the text or about the text before.
WHOLE_ONLY = re.compile(r"\(\?[aiLmsux]|\(\?P=|\\[1-9AbB]|(?<!\[)\^|\(\?<[=!]")
GROUP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\\.|[^()\\])*\)")


@functools.lru_cache(maxsize=16)
def get_sources(resolver: URLResolver) -> dict[tuple[Any, ...], str | None]:
    """Return the expressions of a whole URLconf by their patterns, in the order of Django.

    It is empty where a resolver has a resolve() of its own.
    """
    every = walk_patterns(resolver, ()) if is_standard(resolver) else ()
    return {chain: get_source(chain) for chain, _ in every}


def get_source(chain: Iterable[Any]) -> str | None:
    # None for a pattern that is translated, or whose class has a match() of its own.
    if not all(map(is_constant_pattern, chain)):
        return None
    sources = []
    for pattern in chain:
        text = pattern.regex.pattern
        body = outer = text.removeprefix("^")
        # Alternatives outside any group: the innermost groups are removed until none is left.
        while "|" in outer and (shorter := GROUP.sub("", outer)) != outer:
            outer = shorter
        if "|" in outer or WHOLE_ONLY.search(body):
            return None
        # Django searches, so a pattern without ^ matches anywhere.
        sources.append(body if body != text else rf"[\s\S]*{body}")
    return "".join(sources)


def find_rivals(resolver: URLResolver, chain: tuple[Any, ...]) -> re.Pattern[str] | None:
    """Return an expression of the paths that an earlier pattern could take from a chain.

    None where only resolving shows which paths those are.
    """
    sources, rivals = get_sources(resolver), []
    source = sources.get(chain)
    if source is None:
        return None
    own = get_beginning(source)
    for earlier in takewhile(lambda each: each != chain, sources):
        text = sources[earlier]
        if text is None:
            return None
        beginning = get_beginning(text)
        if own.startswith(beginning) or beginning.startswith(own):
            rivals.append(GROUP_NAME.sub("(?:", text))
    # Without rivals nothing matches.
    return re.compile("|".join(rivals) or r"(?!)")


@functools.lru_cache(maxsize=4096)
def get_beginning(source: str) -> str:
    literal = LITERAL.match(source)
    return "" if literal is None else literal[0].replace("\\", "")


def is_standard(resolver: URLResolver) -> bool:
    # A subclass may have a resolve() of its own.
    return type(resolver) is URLResolver and all(
        is_standard(entry) if isinstance(entry, URLResolver) else type(entry) is URLPattern
        for entry in resolver.url_patterns
    )


def is_constant_pattern(pattern: Any) -> bool:
    # A subclass may compute its expression, and a lazy expression differs by language.
    name = {RoutePattern: "_route", RegexPattern: "_regex"}.get(type(pattern))
    return name is not None and isinstance(getattr(pattern, name), str)


def walk_patterns(resolver: URLResolver, parents: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    chain = (*parents, resolver.pattern)
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from walk_patterns(entry, chain)
        else:
            yield (*chain, entry.pattern), entry.callback
