"""The patterns of a URLconf in the order in which Django tries them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from django.urls import URLPattern, URLResolver
from django.urls.resolvers import RegexPattern, RoutePattern

# The literal beginning of a regular expression, without a character that may repeat.
LITERAL = re.compile(r"(?:(?:[^\\.^$*+?{}\[\]|()]|\\[^\w\s])(?![*?{]))*")
GROUP_NAME = re.compile(r"\(\?P<\w+>")
# Parts that change their meaning when expressions are joined: flags, references, and assertions
# about the beginning of the text or about the text before.
WHOLE_ONLY = re.compile(r"\(\?[aiLmsux]|\(\?P=|\\[1-9AbB]|(?<!\[)\^|\(\?<[=!]")
GROUP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\\.|[^()\\])*\)")


class URLOrder:
    """The patterns that Django tries before each pattern of a resolver.

    Args:
        resolver: the resolver of a whole URLconf.
    """

    def __init__(self, resolver: URLResolver) -> None:
        self.sources = {chain: get_source(chain) for chain, _ in walk_patterns(resolver, ())}
        self.is_standard = is_standard(resolver)

    @classmethod
    @functools.lru_cache(maxsize=16)
    def of(cls, resolver: URLResolver) -> URLOrder:
        return cls(resolver)

    def find_rivals(self, chain: tuple[Any, ...]) -> re.Pattern[str] | None:
        """Return an expression of the paths that an earlier pattern could take from a chain.

        None where only resolving shows which paths those are.
        """
        source = self.sources.get(chain)
        if source is None or not self.is_standard:
            return None
        own, rivals = get_beginning(source), []
        for earlier in takewhile(lambda each: each != chain, self.sources):
            text = self.sources[earlier]
            if text is None:
                return None
            beginning = get_beginning(text)
            if own.startswith(beginning) or beginning.startswith(own):
                rivals.append(GROUP_NAME.sub("(?:", text))
        # Without rivals nothing matches.
        return re.compile("|".join(rivals) or r"(?!)")


def get_source(chain: Iterable[Any]) -> str | None:
    # None for a pattern that is translated, or whose class has a match() of its own.
    if not all(map(is_constant_pattern, chain)):
        return None
    sources = []
    for pattern in chain:
        text = pattern.regex.pattern
        body = text.removeprefix("^")
        if WHOLE_ONLY.search(body) or has_alternatives(body):
            return None
        # Django searches, so a pattern without ^ matches anywhere.
        sources.append(body if body != text else rf"[\s\S]*{body}")
    return "".join(sources)


def has_alternatives(source: str) -> bool:
    # Alternatives outside any group: the innermost groups are removed until none is left.
    while "|" in source and (shorter := GROUP.sub("", source)) != source:
        source = shorter
    return "|" in source


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
