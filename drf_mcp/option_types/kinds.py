"""The kinds of values that settings and options take, and patterns that choose tools."""

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

from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.views.generic import View

# An error shows the beginning of a wrong value, which may be long.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Kind:
    """A kind of value that settings and options take.

    Args:
        words: the end of the sentence "must be ...".
        takes: returns whether a value other than None is of the kind.
        imports: whether a text is the dotted path of the value.
    """

    none = False

    def __init__(
        self,
        words: str,
        takes: Callable[[Any], bool] = lambda value: True,
        *,
        imports: bool = False,
    ) -> None:
        self.words = words
        self.takes = takes
        self.imports = imports

    def or_none(self) -> Kind:
        """Return the kind whose value may also be None."""
        kind = copy.copy(self)
        kind.none = True
        return kind

    def fault(self, value: Any) -> str:
        """Return the end of a sentence about a wrong value, "" for a right one."""
        if (value is None and self.none) or (value is not None and self.takes(value)):
            return ""
        return f"must be {self.accepted}, not {_SHORT.repr(value)}."

    @property
    def accepted(self) -> str:
        return f"{self.words}, or None" if self.none else self.words

    def read(self, value: Any, place: str) -> Any:
        """Return a setting's value, with what it names imported; a wrong one raises."""
        value = self.resolve(value, place)
        if fault := self.fault(value):
            raise ImproperlyConfigured(f"{place} {fault}")
        return value

    def resolve(self, value: Any, place: str) -> Any:
        if not self.imports or not isinstance(value, str):
            return value
        try:
            return import_string(value)
        except ImportError as exc:
            text = f"{place} names {value!r}, which cannot be imported: {exc}"
            raise ImproperlyConfigured(text) from exc


def refuse_wrong_values(kinds: Mapping[str, Kind], values: Mapping[str, Any], place: str) -> None:
    for name, value in values.items():
        if name in kinds and (fault := kinds[name].fault(value)):
            raise ImproperlyConfigured(f"{place}: {name} {fault}")


class Flag(Kind):
    """True or False."""

    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, bool))


class Choice(Kind):
    """One of some texts."""

    def __init__(self, *choices: str) -> None:
        words = " or ".join(map(repr, choices))
        super().__init__(words, lambda value: isinstance(value, str) and value in choices)


class Text(Kind):
    """A text.

    Args:
        lazy: whether it may be translated when it is read.
        empty: whether it may be empty.
    """

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
        zero: whether 0 is one as well, whatever the smallest one.
    """

    def __init__(self, least: int = 1, *, zero: bool = False) -> None:
        def takes(value: Any) -> bool:
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return is_whole and (value >= least or (zero and value == 0))

        super().__init__(f"{'0 or ' * zero}a whole number of {least} or more", takes)


class Bound(Number):
    """The most that one owner may ask for or hold of something.

    Args:
        sentence: what a caller reads who asks for more; ``%(most)s`` is the value. English, as
            models read it, or lazy where people read it.
    """

    def __init__(self, sentence: Any, least: int = 1) -> None:
        super().__init__(least)
        self.sentence = sentence


class Class(Kind):
    def __init__(self, base: str) -> None:
        def takes(value: Any) -> bool:
            return isinstance(value, type) and issubclass(value, import_string(base))

        super().__init__(f"a subclass of {base}", takes, imports=True)


class ListOf(Kind):
    """A list, tuple or set of values of one kind."""

    # Not a text, which would be a list of letters.
    types = (list, tuple, set, frozenset)

    def __init__(self, item: Kind) -> None:
        super().__init__(f"a list, each item {item.accepted}", lambda value: False)
        self.item = item

    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, self.types):
            return value
        return [self.item.resolve(item, place) for item in value]

    def fault(self, value: Any) -> str:
        if not isinstance(value, self.types):
            return super().fault(value)
        for item in value:
            if self.item.fault(item):
                return f"holds {_SHORT.repr(item)}, which is not {self.item.accepted}."
        return ""


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


class Either(Kind):
    """A value of one of several kinds."""

    def __init__(self, *kinds: Kind) -> None:
        words = " or ".join(kind.words for kind in kinds)
        super().__init__(words, lambda value: not all(kind.fault(value) for kind in kinds))


def _is_json_object(value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return False
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


ANYTHING = Kind("anything").or_none()
JSON_OBJECT = Kind("a dict of JSON values", _is_json_object)
WORDS = ListOf(Text())
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


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(read_pattern(value))
    except ValueError:
        return False


PATTERNS = ListOf(
    Kind("a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'", _is_pattern)
)
