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
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import check_for_language
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
        test: returns whether a value other than None is of the kind.
    """

    words = "anything"
    none = False

    def __init__(self, words: str = "", test: Callable[[Any], bool] | None = None) -> None:
        self.words = words or self.words
        self.test = test

    def takes(self, value: Any) -> bool:
        return self.test is None or self.test(value)

    def resolve(self, value: Any, place: str) -> Any:
        return value

    def fault(self, value: Any) -> str:
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
        """Return the kind of which the value may be None as well."""
        kind = copy.copy(self)
        kind.none = True
        return kind


def refuse_wrong_values(kinds: Mapping[str, Kind], values: Mapping[str, Any], place: str) -> None:
    for name, value in values.items():
        if name in kinds and (fault := kinds[name].fault(value)):
            raise ImproperlyConfigured(f"{place}: {name} {fault}")


# --- Plain values -------------------------------------------------------------------------------


class Flag(Kind):
    words = "True or False"

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool)


class Choice(Kind):
    def __init__(self, *choices: str) -> None:
        super().__init__(" or ".join(map(repr, choices)))
        self.choices = choices

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices


class Text(Kind):
    words = "a text"

    def __init__(self, *, lazy: bool = False, empty: bool = False) -> None:
        super().__init__()
        self.lazy = lazy
        self.empty = empty

    def takes(self, value: Any) -> bool:
        # A lazy text cannot be read before the apps are ready.
        if isinstance(value, Promise):
            return self.lazy
        return isinstance(value, str) and (self.empty or bool(value.strip()))


class Number(Kind):
    """A whole number.

    Args:
        least: the smallest one.
        zero: whether 0 is one as well, whatever the smallest one.
    """

    def __init__(self, least: int = 1, *, zero: bool = False) -> None:
        super().__init__(f"{'0 or ' * zero}a whole number of {least} or more")
        self.least = least
        self.zero = zero

    def takes(self, value: Any) -> bool:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return is_number and (value >= self.least or (self.zero and value == 0))


class Bound(Number):
    """The most that one owner may ask for or hold of something.

    Args:
        sentence: what a caller reads who asks for more; ``%(most)s`` is the value. English, as
            models read it, or lazy where people read it.
        most: the largest value.
    """

    def __init__(self, sentence: Any, least: int = 1, most: int | None = None) -> None:
        super().__init__(least)
        self.sentence = sentence
        self.most = most
        if most is not None:
            self.words = f"a whole number from {least} to {most}"

    def takes(self, value: Any) -> bool:
        return super().takes(value) and (self.most is None or value <= self.most)


class Match(Kind):
    def __init__(self, pattern: str, words: str = "") -> None:
        super().__init__(words)
        self.compiled = re.compile(pattern)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and bool(self.compiled.fullmatch(value))


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
ABSOLUTE_PATH = Kind(
    "an absolute path",
    lambda value: isinstance(value, (str, PurePath)) and PurePath(value).is_absolute(),
)
LANGUAGE = Kind(
    "the code of a language that Django has texts in, such as 'de'",
    lambda value: isinstance(value, str) and check_for_language(value),
)
CACHE_ALIAS = Kind(
    "an alias in CACHES", lambda value: isinstance(value, str) and value in settings.CACHES
)
FUNCTION = Kind("a function", callable)


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
        super().__init__(f"a subclass of {base}")
        self.base = base

    def takes(self, value: Any) -> bool:
        return isinstance(value, type) and issubclass(value, import_string(self.base))


def is_permission_class(value: Any) -> bool:
    # REST framework reads Django's settings when it is imported, so not at the top.
    from rest_framework.permissions import OperandHolder, SingleOperandHolder

    if isinstance(value, (OperandHolder, SingleOperandHolder)):
        return True
    return isinstance(value, type) and callable(getattr(value, "has_permission", None))


PERMISSION_CLASS = Named("a permission class", is_permission_class)
MIDDLEWARE = Named("the dotted path of middleware", callable)
CONDITION = Named(
    "True, False, or a function of the request or its dotted path",
    lambda value: isinstance(value, bool) or callable(value),
)


# --- Lists and dicts ----------------------------------------------------------------------------


class ListOf(Kind):
    def __init__(self, item: Kind, *, distinct: bool = False) -> None:
        super().__init__(f"a list, each item {item.accepted}")
        self.item = item
        self.distinct = distinct

    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return [self.item.resolve(item, place) for item in value]

    def fault(self, value: Any) -> str:
        if not isinstance(value, (list, tuple)):
            return super().fault(value)
        for number, item in enumerate(value):
            if self.item.fault(item):
                return f"holds {SHORT.repr(item)}, which is not {self.item.accepted}."
            if self.distinct and item in value[:number]:
                return f"holds {SHORT.repr(item)} twice."
        return ""

    def takes(self, value: Any) -> bool:
        return False


class Words(ListOf):
    # A string is refused: it would be a list of letters.
    def __init__(self) -> None:
        super().__init__(Text())

    def fault(self, value: Any) -> str:
        return super().fault(list(value) if isinstance(value, (set, frozenset)) else value)


class MappingOf(Kind):
    """A dict from names to values of one kind.

    Args:
        name: a regular expression of the names.
    """

    def __init__(self, item: Kind, words: str, *, name: str = ".*") -> None:
        super().__init__(words)
        self.item = item
        self.name = re.compile(name, re.DOTALL)

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and self.name.fullmatch(key) and not self.item.fault(entry)
            for key, entry in value.items()
        )


class JSONObject(Kind):
    words = "a dict of JSON values"

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            return False
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return False
        return True


class MembersOf(Kind):
    """A dict with some of a few members.

    Args:
        needed: the members that are required.
    """

    def __init__(self, words: str, members: Mapping[str, Kind], *needed: str) -> None:
        super().__init__(words)
        self.members = members
        self.needed = needed

    def takes(self, value: Any) -> bool:
        return (
            isinstance(value, Mapping)
            and value.keys() >= set(self.needed)
            and all(n in self.members and not self.members[n].fault(v) for n, v in value.items())
        )


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
SERVER_INFO = MembersOf(
    "a dict with description (a text), icons (each as that of a tool) and websiteUrl (an https "
    "URL), or some of them",
    {"description": Text(lazy=True), "icons": ListOf(ICON), "websiteUrl": RESOURCE_URI},
)


class Either(Kind):
    def __init__(self, *kinds: Kind) -> None:
        super().__init__(" or ".join(kind.words for kind in kinds))
        self.kinds = kinds

    def takes(self, value: Any) -> bool:
        return any(kind.takes(value) for kind in self.kinds)


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
    words = "a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'"

    def takes(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(read_pattern(value))
        except ValueError:
            return False


# Names of toolsets are in URLs, and in a header with commas between them.
TOOLSETS = MappingOf(
    ListOf(ToolPattern()),
    "a dict from names to lists of patterns such as {'billing': ['invoices_*']}",
    name=r"[\w.-]+",
)
