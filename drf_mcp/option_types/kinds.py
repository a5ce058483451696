from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
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

SOURCE = re.compile(r"https://[^\s/?#]+\S*|data:image/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}")
IMAGE = re.compile(r"image/[\w.+-]+")
THEME = re.compile("light|dark")
SIZE = re.compile(r"[1-9]\d*x[1-9]\d*|any")


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
        return f"must be {self.accepted}, not {shorten_repr(value)}."

    @property
    def accepted(self) -> str:
        return f"{self.words}, or None" if self.none else self.words

    def read(self, value: Any, place: str) -> Any:
        value = self.resolve(value, place)
        if fault := self.fault(value):
            raise ImproperlyConfigured(f"{place} {fault}")
        return value


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
        self.types = (str, Promise) if lazy else (str,)
        self.empty = empty

    def takes(self, value: Any) -> bool:
        # A lazy text cannot be read before the apps are ready.
        if isinstance(value, Promise):
            return Promise in self.types
        return isinstance(value, str) and (self.empty or bool(value.strip()))


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


class ToolPattern(Kind):
    words = "a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'"

    def takes(self, value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(read_pattern(value))
        except ValueError:
            return False


class Match(Kind):
    pattern: re.Pattern[str]

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and bool(self.pattern.fullmatch(value))


class Origin(Match):
    words = "an origin as browsers send it, such as 'https://app.example.com'"
    # An Origin header (RFC 6454, section 7).
    pattern = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#*@A-Z]+|null")


class ResourceURI(Match):
    words = "the public URL of the endpoint or of a part of its path"
    # Without a query and a fragment (RFC 8414, section 2, and RFC 9728, section 1.2).
    pattern = re.compile(r"https?://[^\s/?#@\"\\]+(/[^\s?#\"\\]*)?")


class Issuer(Match):
    words = "the URL of an authorization server as it is in its tokens, or a path of this host"
    pattern = re.compile(rf"{ResourceURI.pattern.pattern}|/[^\s/?#\"\\][^\s?#\"\\]*")


class Scope(Match):
    words = "a scope, without spaces and quotes"
    # RFC 6749, section 3.3.
    pattern = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


class CacheAlias(Kind):
    words = "an alias in CACHES"

    def takes(self, value: Any) -> bool:
        return isinstance(value, str) and value in settings.CACHES


class Function(Kind):
    words = "a function"

    def takes(self, value: Any) -> bool:
        return callable(value)


class Condition(Kind):
    words = "True, False, or a function of the request or its dotted path"

    def takes(self, value: Any) -> bool:
        return isinstance(value, bool) or callable(value)

    def resolve(self, value: Any, place: str) -> Any:
        return import_named(value, place) if isinstance(value, str) else value


class Class(Kind):
    def __init__(self, base: str, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.base = base
        self.words = f"a subclass of {base}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, type) and issubclass(value, import_string(self.base))

    def resolve(self, value: Any, place: str) -> Any:
        return import_named(value, place) if isinstance(value, str) else value


class PermissionClass(Class):
    def __init__(self) -> None:
        super().__init__("rest_framework.permissions.BasePermission")
        self.words = "a permission class"

    def takes(self, value: Any) -> bool:
        # REST framework reads Django's settings when it is imported, so not at the top.
        from rest_framework.permissions import OperandHolder, SingleOperandHolder

        if isinstance(value, (OperandHolder, SingleOperandHolder)):
            return True
        return isinstance(value, type) and callable(getattr(value, "has_permission", None))


class Middleware(Class):
    def __init__(self) -> None:
        super().__init__("")
        self.words = "the dotted path of middleware"

    def takes(self, value: Any) -> bool:
        return callable(value)


class InstanceOf(Kind):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.words = f"an instance of {base}"

    def takes(self, value: Any) -> bool:
        return isinstance(value, import_string(self.base))


class ListOf(Kind):
    def __init__(self, item: Kind, *, distinct: bool = False, none: bool = False) -> None:
        super().__init__(none=none)
        self.item = item
        self.distinct = distinct

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"a list, each item {self.item.accepted}"

    def resolve(self, value: Any, place: str) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return [self.item.resolve(item, place) for item in value]

    def fault(self, value: Any) -> str:
        if not isinstance(value, (list, tuple)):
            return super().fault(value)
        for number, item in enumerate(value):
            if self.item.fault(item):
                return f"holds {shorten_repr(item)}, which is not {self.item.accepted}."
            if self.distinct and item in value[:number]:
                return f"holds {shorten_repr(item)} twice."
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


class NamedPatterns(MappingOf):
    # Names are part of URLs and of a header with commas.
    NAME = re.compile(r"[\w.-]+")

    def __init__(self, *, none: bool = False) -> None:
        words = "a dict from names to lists of patterns such as {'billing': ['invoices_*']}"
        super().__init__(ListOf(ToolPattern()), words, none=none)

    def takes(self, value: Any) -> bool:
        return super().takes(value) and all(map(self.NAME.fullmatch, value))


class Either(Kind):
    def __init__(self, *kinds: Kind, none: bool = False) -> None:
        super().__init__(none=none)
        self.kinds = kinds
        self.words = " or ".join(kind.words for kind in kinds)

    def takes(self, value: Any) -> bool:
        return any(kind.takes(value) for kind in self.kinds)


def import_named(dotted: str, place: str) -> Any:
    try:
        return import_string(dotted)
    except ImportError as exc:
        raise ImproperlyConfigured(
            f"{place} names {dotted!r}, which cannot be imported: {exc}"
        ) from exc


def shorten_repr(value: Any) -> str:
    return SHORT.repr(value)


def refuse_wrong_values(kinds: Mapping[str, Kind], values: Mapping[str, Any], place: str) -> None:
    for name, value in values.items():
        if name in kinds and (fault := kinds[name].fault(value)):
            raise ImproperlyConfigured(f"{place}: {name} {fault}")


class Icon(Kind):
    words = (
        "a dict with src (an https URL, or a data URI of an image in base64), and if need be "
        "mimeType ('image/png'), sizes (['48x48'] or ['any']) and theme ('light' or 'dark')"
    )

    def takes(self, value: Any) -> bool:
        patterns = {"src": SOURCE, "mimeType": IMAGE, "theme": THEME}
        if not isinstance(value, Mapping) or "src" not in value:
            return False
        if value.keys() - patterns.keys() - {"sizes"} or not self.are_sizes(value.get("sizes")):
            return False
        return all(self.is_text(p, value[name]) for name, p in patterns.items() if name in value)

    def is_text(self, pattern: re.Pattern[str], value: Any) -> bool:
        return isinstance(value, str) and bool(pattern.fullmatch(value))

    def are_sizes(self, value: Any) -> bool:
        if value is None:
            return True
        if not isinstance(value, (list, tuple)) or not value:
            return False
        return all(self.is_text(SIZE, size) for size in value)


class ServerInfo(Kind):
    words = (
        "a dict with description (a text), icons (each as that of a tool) and websiteUrl (an https "
        "URL), or some of them"
    )

    def takes(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            name in SERVER_INFO and not SERVER_INFO[name].fault(member)
            for name, member in value.items()
        )


SERVER_INFO: Mapping[str, Kind] = {
    "description": Text(lazy=True),
    "icons": ListOf(Icon()),
    "websiteUrl": ResourceURI(),
}
