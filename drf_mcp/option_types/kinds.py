"""The kinds of values that settings and options take."""

from __future__ import annotations

import copy
import json
import re
import reprlib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import check_for_language

from drf_mcp.option_types.patterns import read_pattern

# An error shows the beginning of a wrong value, which may be long.
SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = 80


class Kind:
    """A kind of value that settings and options take; `words` end the sentence "must be ..."."""

    words = "anything"

    def __init__(self, *, none: bool = False) -> None:
        self.none = none

    def takes(self, value: Any) -> bool:
        # Never asked about None.
        return True

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
    def __init__(self, *choices: str, none: bool = False) -> None:
        super().__init__(none=none)
        self.choices = choices
        self.words = " or ".join(map(repr, choices))

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices


class Text(Kind):
    words = "a text"

    def __init__(self, *, lazy: bool = False, none: bool = False, empty: bool = False) -> None:
        super().__init__(none=none)
        self.lazy = lazy
        self.empty = empty

    def takes(self, value: Any) -> bool:
        # A lazy text cannot be read before the apps are ready.
        if isinstance(value, Promise):
            return self.lazy
        return isinstance(value, str) and (self.empty or bool(value.strip()))


class FilePath(Kind):
    words = "an absolute path"

    def takes(self, value: Any) -> bool:
        return isinstance(value, (str, PurePath)) and PurePath(value).is_absolute()


class Language(Kind):
    words = "the code of a language that Django has texts in, such as 'de'"

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and check_for_language(value)


class Number(Kind):
    def __init__(self, least: int = 1, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.least = least
        self.words = f"a whole number of {least} or more"

    def takes(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least


class Match(Kind):
    pattern = ""

    def __init__(self, pattern: str = "", *, none: bool = False) -> None:
        super().__init__(none=none)
        self.compiled = re.compile(pattern or self.pattern)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and bool(self.compiled.fullmatch(value))


class Origin(Match):
    words = "an origin as browsers send it, such as 'https://app.example.com'"
    # An Origin header (RFC 6454, section 7).
    pattern = r"[a-z][a-z0-9+.-]*://[^\s/?#*@A-Z]+|null"


class ResourceURI(Match):
    words = "the public URL of the endpoint or of a part of its path"
    # Without a query and a fragment (RFC 8414, section 2, and RFC 9728, section 1.2).
    pattern = r"https?://[^\s/?#@\"\\]+(/[^\s?#\"\\]*)?"


class Issuer(Match):
    words = "the URL of an authorization server as it is in its tokens, or a path of this host"
    pattern = rf"{ResourceURI.pattern}|/[^\s/?#\"\\][^\s?#\"\\]*"


class Scope(Match):
    words = "a scope, without spaces and quotes"
    # RFC 6749, section 3.3.
    pattern = r"[\x21\x23-\x5b\x5d-\x7e]+"


class CacheAlias(Kind):
    words = "an alias in CACHES"

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in settings.CACHES


# --- Classes and functions ----------------------------------------------------------------------


class Function(Kind):
    words = "a function"

    def takes(self, value: Any) -> bool:
        return callable(value)


class Named(Kind):
    # A value that may be given by its dotted path.
    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return import_string(value)
        except ImportError as exc:
            raise ImproperlyConfigured(
                f"{place} names {value!r}, which cannot be imported: {exc}"
            ) from exc


class Condition(Named):
    words = "True, False, or a function of the request or its dotted path"

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool) or callable(value)


class Middleware(Named):
    words = "the dotted path of middleware"

    def takes(self, value: Any) -> bool:
        return callable(value)


class Class(Named):
    def __init__(self, base: str, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.base = base
        self.words = f"a subclass of {base}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, type) and issubclass(value, import_string(self.base))


class PermissionClass(Named):
    words = "a permission class"

    def takes(self, value: Any) -> bool:
        # REST framework reads Django's settings when it is imported, so not at the top.
        from rest_framework.permissions import OperandHolder, SingleOperandHolder

        if isinstance(value, (OperandHolder, SingleOperandHolder)):
            return True
        return isinstance(value, type) and callable(getattr(value, "has_permission", None))


class InstanceOf(Kind):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.words = f"an instance of {base}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, import_string(self.base))


# --- Lists and dicts ----------------------------------------------------------------------------


class ListOf(Kind):
    def __init__(self, item: Kind, *, distinct: bool = False, none: bool = False) -> None:
        super().__init__(none=none)
        self.item = item
        self.distinct = distinct
        self.words = f"a list, each item {item.accepted}"

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
    # A text is refused: it would be read letter by letter.
    def __init__(self, *, none: bool = False) -> None:
        super().__init__(Text(), none=none)

    def fault(self, value: Any) -> str:
        return super().fault(list(value) if isinstance(value, (set, frozenset)) else value)


class MappingOf(Kind):
    def __init__(self, item: Kind, words: str, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.item = item
        self.words = words

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and not self.item.fault(entry) for key, entry in value.items()
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


class MetaMembers(JSONObject):
    # The names of the members of ``_meta`` (2025-11-25, basic, "General fields").
    LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    PREFIX = re.compile(rf"{LABEL}(?:\.{LABEL})*")
    NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
    PROTOCOL = ("modelcontextprotocol", "mcp")
    TRACING = ("traceparent", "tracestate", "baggage")

    def fault(self, value: Any) -> str:
        fault = super().fault(value)
        for key in () if fault or value is None else value:
            prefix, slash, name = key.rpartition("/")
            labels = prefix.split(".")
            is_name = self.NAME.fullmatch(name) or (slash and not name)
            if not is_name or (slash and not self.PREFIX.fullmatch(prefix)):
                found = "a key is a name such as 'team', or has a prefix such as 'com.example/team'"
            # Up to 2025-06-18 any label but the last, since then the second one.
            elif any(label in self.PROTOCOL for label in (*labels[:-1], *labels[1:2])):
                found = "the prefix is reserved for the protocol"
            elif key in self.TRACING:
                found = "the name is reserved for the protocol"
            else:
                continue
            return f"holds the key {SHORT.repr(key)}: {found}."
        return fault


class MembersOf(Kind):
    """A dict with some of a few members."""

    def __init__(self, words: str, members: Mapping[str, Kind], *needed: str) -> None:
        super().__init__()
        self.words = words
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
    {"description": Text(lazy=True), "icons": ListOf(ICON), "websiteUrl": ResourceURI()},
)


class Either(Kind):
    def __init__(self, *kinds: Kind, none: bool = False) -> None:
        super().__init__(none=none)
        self.kinds = kinds
        self.words = " or ".join(kind.words for kind in kinds)

    def takes(self, value: Any) -> bool:
        return any(kind.takes(value) for kind in self.kinds)


# --- Patterns -----------------------------------------------------------------------------------


class ToolPattern(Kind):
    words = "a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'"

    def takes(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(read_pattern(value))
        except ValueError:
            return False


class NamedPatterns(MappingOf):
    # Names are part of URLs and of a header with commas.
    NAME = re.compile(r"[\w.-]+")

    def __init__(self, *, none: bool = False) -> None:
        words = "a dict from names to lists of patterns such as {'billing': ['invoices_*']}"
        super().__init__(ListOf(ToolPattern()), words, none=none)

    def takes(self, value: Any) -> bool:
        return super().takes(value) and all(map(self.NAME.fullmatch, value))
