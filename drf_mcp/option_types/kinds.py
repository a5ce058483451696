"""The kinds of values that settings and options take."""

from __future__ import annotations

import copy
import fnmatch
import functools
import json
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.views.generic import View

# An error shows the beginning of a wrong value, which may be long.
SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = 80
# In tokens: an envelope that only says what is missing, and how to fetch it, has about so many.
SMALLEST_BUDGET = 1000


class Kind:
    """A kind of value that settings and options take.

    Args:
        words: the end of the sentence "must be ...".
        takes: returns whether a value other than None is of the kind.
    """

    none = False

    def __init__(self, words: str, takes: Callable[[Any], bool] = lambda value: True) -> None:
        self.words = words
        self.takes = takes

    def resolve(self, value: Any, place: str) -> Any:
        return value

    def fault(self, value: Any) -> str:
        """Return the end of a sentence about a wrong value, "" for a right one."""
        if (value is None and self.none) or (value is not None and self.takes(value)):
            return ""
        return f"must be {self.accepted}, not {SHORT.repr(value)}."

    @property
    def accepted(self) -> str:
        return f"{self.words}, or None" if self.none else self.words

    def read(self, value: Any, place: str) -> Any:
        value = self.resolve(value, place)
        if fault := self.fault(value):
            raise ImproperlyConfigured(f"{place} {fault}")
        return value

    def or_none(self) -> Kind:
        """Return the kind whose value may also be None."""
        kind = copy.copy(self)
        kind.none = True
        return kind


ANYTHING = Kind("anything").or_none()


def refuse_wrong_values(kinds: Mapping[str, Kind], values: Mapping[str, Any], place: str) -> None:
    for name, value in values.items():
        if name in kinds and (fault := kinds[name].fault(value)):
            raise ImproperlyConfigured(f"{place}: {name} {fault}")


# --- Plain values -------------------------------------------------------------------------------


class Flag(Kind):
    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, bool))


class Choice(Kind):
    def __init__(self, *choices: str) -> None:
        words = " or ".join(map(repr, choices))
        super().__init__(words, lambda value: isinstance(value, str) and value in choices)


class Text(Kind):
    def __init__(self, *, lazy: bool = False, empty: bool = False) -> None:
        def takes(value: Any) -> bool:
            # A lazy text cannot be read before the apps are ready.
            if isinstance(value, Promise):
                return lazy
            return isinstance(value, str) and (empty or bool(value.strip()))

        super().__init__("a text", takes)


class Match(Kind):
    def __init__(self, pattern: str, words: str = "") -> None:
        match = re.compile(pattern).fullmatch
        super().__init__(words, lambda value: isinstance(value, str) and bool(match(value)))


class Number(Kind):
    """A whole number.

    Args:
        least: the smallest one.
        most: the largest one, None for any.
        zero: whether 0 is one as well, whatever the smallest one.
    """

    def __init__(self, least: int = 1, most: int | None = None, *, zero: bool = False) -> None:
        def takes(value: Any) -> bool:
            if not isinstance(value, int) or isinstance(value, bool):
                return False
            return (zero and value == 0) or (value >= least and (most is None or value <= most))

        to = f"of {least} or more" if most is None else f"from {least} to {most}"
        super().__init__(f"{'0 or ' * zero}a whole number {to}", takes)


class Bound(Number):
    """The most that one owner may ask for or hold of something.

    Args:
        sentence: what a caller reads who asks for more; ``%(most)s`` is the value. English, as
            models read it, or lazy where people read it.
    """

    def __init__(self, sentence: Any, least: int = 1) -> None:
        super().__init__(least)
        self.sentence = sentence


# An Origin header (RFC 6454, section 7).
ORIGIN = Match(
    r"[a-z][a-z0-9+.-]*://[^\s/?#*@A-Z]+|null",
    "an origin as browsers send it, such as 'https://app.example.com'",
)
# Without a query and a fragment (RFC 8414, section 2, and RFC 9728, section 1.2).
URI = r"https?://[^\s/?#@\"\\]+(/[^\s?#\"\\]*)?"
RESOURCE_URI = Match(URI, "the public URL of the endpoint or of a part of its path")
ISSUER = Match(
    rf"{URI}|/[^\s/?#\"\\][^\s?#\"\\]*",
    "the URL of an authorization server as it is in its tokens, or a path of this host",
)
# RFC 6749, section 3.3.
SCOPE = Match(r"[\x21\x23-\x5b\x5d-\x7e]+", "a scope, without spaces and quotes")
CACHE_ALIAS = Kind(
    "an alias in CACHES", lambda value: isinstance(value, str) and value in settings.CACHES
)


# --- Classes and functions that a dotted path may name ------------------------------------------


class Named(Kind):
    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return import_string(value)
        except ImportError as exc:
            raise ImproperlyConfigured(
                f"{place} names {value!r}, which cannot be imported: {exc}"
            ) from exc


class Class(Named):
    def __init__(self, base: str) -> None:
        def takes(value: Any) -> bool:
            return isinstance(value, type) and issubclass(value, import_string(base))

        super().__init__(f"a subclass of {base}", takes)


def is_permission_class(value: Any) -> bool:
    # REST framework reads Django's settings when it is imported, so not at the top.
    from rest_framework.permissions import OperandHolder, SingleOperandHolder

    if isinstance(value, (OperandHolder, SingleOperandHolder)):
        return True
    return isinstance(value, type) and callable(getattr(value, "has_permission", None))


# --- Lists and dicts ----------------------------------------------------------------------------


class ListOf(Kind):
    def __init__(self, item: Kind, *, distinct: bool = False) -> None:
        super().__init__(f"a list, each item {item.accepted}", lambda value: False)
        self.item = item
        self.distinct = distinct

    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return [self.item.resolve(item, place) for item in value]

    def fault(self, value: Any) -> str:
        # A string is refused: it would be a list of letters.
        if not isinstance(value, (list, tuple)):
            return super().fault(value)
        for number, item in enumerate(value):
            if self.item.fault(item):
                return f"holds {SHORT.repr(item)}, which is not {self.item.accepted}."
            if self.distinct and item in value[:number]:
                return f"holds {SHORT.repr(item)} twice."
        return ""


class Words(ListOf):
    def __init__(self) -> None:
        super().__init__(Text())

    def fault(self, value: Any) -> str:
        return super().fault(list(value) if isinstance(value, (set, frozenset)) else value)


class MappingOf(Kind):
    """A dict from names to values of one kind.

    Args:
        name: a regular expression of the names.
    """

    def __init__(self, item: Kind, words: str, *, name: str = "(?s:.*)") -> None:
        def takes(value: Any) -> bool:
            return isinstance(value, Mapping) and all(
                isinstance(key, str) and re.fullmatch(name, key) and not item.fault(entry)
                for key, entry in value.items()
            )

        super().__init__(words, takes)


class MembersOf(Kind):
    """A dict with some of a few members.

    Args:
        needed: the members that are required.
    """

    def __init__(self, words: str, members: Mapping[str, Kind], *needed: str) -> None:
        def takes(value: Any) -> bool:
            return (
                isinstance(value, Mapping)
                and value.keys() >= set(needed)
                and all(name in members and not members[name].fault(v) for name, v in value.items())
            )

        super().__init__(words, takes)


class JSONObject(Kind):
    def __init__(self) -> None:
        def takes(value: Any) -> bool:
            if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
                return False
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError):
                return False
            return True

        super().__init__("a dict of JSON values", takes)


class Either(Kind):
    def __init__(self, *kinds: Kind) -> None:
        words = " or ".join(kind.words for kind in kinds)
        super().__init__(words, lambda value: not all(kind.fault(value) for kind in kinds))


ICON = MembersOf(
    "a dict with src (an https URL, or a data URI of an image in base64), and if need be "
    "mimeType ('image/png'), sizes (['48x48'] or ['any']) and theme ('light' or 'dark')",
    {
        "src": Match(r"https://[^\s/?#]+\S*|data:image/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}"),
        "mimeType": Match(r"image/[\w.+-]+"),
        "sizes": ListOf(Match(r"[1-9]\d*x[1-9]\d*|any")),
        "theme": Choice("light", "dark"),
    },
    "src",
)


# --- Patterns that choose tools: "/api/*", "orders_*", "tag:billing", "PUT *" --------------------

METHODS = frozenset(name.upper() for name in View.http_method_names)
WITH_METHOD = re.compile(r"(?P<method>[A-Za-z]+)\s+(?P<glob>\S.*)")
# A pattern that begins like a word has to be a name or a tag.
WRITABLE = re.compile(r"[/*?\[].*|tag:.+|[a-z][a-z0-9_*?\[\]!-]*")


@dataclass(frozen=True)
class Pattern:
    """One pattern over the method ("" for any), and the path, name or tags of a tool."""

    method: str
    glob: str

    def matches(self, endpoint: Any, name: str, tags: Iterable[str]) -> bool:
        """Return whether the pattern chooses an endpoint, as a tool with a name and tags."""
        if self.method not in ("", endpoint.method):
            return False
        subjects = (endpoint.route.path, *(f"tag:{tag}" for tag in tags))
        if any(fnmatch.fnmatchcase(subject, self.glob) for subject in subjects):
            return True
        # The name of a standard action is matched as a whole: *_update is not partial_update.
        ending, tail = f"_{endpoint.standard_action}", self.glob.rpartition("*")[2]
        within = tail.startswith("_") and tail != ending and ending.endswith(tail)
        inside_action = endpoint.is_standard and name.endswith(ending) and within
        return fnmatch.fnmatchcase(name, self.glob) and not inside_action


@functools.lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern:
    text = text.strip()
    written = WITH_METHOD.fullmatch(text)
    method, glob = (written["method"].upper(), written["glob"]) if written else ("", text)
    if method and method not in METHODS:
        raise ValueError(f"{written and written['method']} is no HTTP method")
    if not WRITABLE.fullmatch(glob):
        raise ValueError('a path begins with "/" or "*", a name is in lower case')
    return Pattern(method, glob)


class ToolPattern(Kind):
    def __init__(self) -> None:
        def takes(value: Any) -> bool:
            try:
                return isinstance(value, str) and bool(read_pattern(value))
            except ValueError:
                return False

        super().__init__(
            "a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'", takes
        )
