"""Kinds of single values: flags, texts, numbers, functions."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.utils.functional import Promise

from drf_mcp.option_types.base import Kind
from drf_mcp.option_types.patterns import read_pattern

# An Origin header as browsers send it (RFC 6454, section 7).
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#*@A-Z]+|null")


class Flag(Kind):
    """True or False."""

    words = "True or False"

    def takes(self, value: Any) -> bool:
        """Return whether a value is a boolean."""
        return isinstance(value, bool)

    @property
    def accepted(self) -> str:
        """The values it takes."""
        return "True, False or None" if self.none else self.words


class Choice(Kind):
    """One of some texts."""

    def __init__(self, *choices: str, none: bool = False) -> None:
        super().__init__(none=none)
        self.choices = choices
        self.words = " or ".join(map(repr, choices))

    def takes(self, value: Any) -> bool:
        """Return whether a value is one of the texts."""
        return isinstance(value, str) and value in self.choices


class Text(Kind):
    """A text that says something; lazily translated where people read it."""

    words = "a text"

    def __init__(self, *, lazy: bool = False, none: bool = False) -> None:
        super().__init__(none=none)
        self.types = (str, Promise) if lazy else (str,)

    def takes(self, value: Any) -> bool:
        """Return whether a value is a text with something in it."""
        return isinstance(value, self.types) and bool(str(value).strip())


class Number(Kind):
    """A whole number.

    Args:
        least: the smallest.
        none: None is taken as well.
    """

    def __init__(self, least: int = 1, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.least = least
        self.words = f"a whole number of {least} or more"

    def takes(self, value: Any) -> bool:
        """Return whether a value is such a number; True and False are none."""
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least


class ToolPattern(Kind):
    """A pattern over tools."""

    words = "a pattern such as '/api/*', 'orders_*', 'tag:billing' or 'GET /api/*'"

    def takes(self, value: Any) -> bool:
        """Return whether a value is a pattern that a tool could match."""
        try:
            return isinstance(value, str) and bool(read_pattern(value))
        except ValueError:
            return False


class Origin(Kind):
    """The origin of a browser's page."""

    words = "an origin as browsers send it, such as 'https://app.example.com'"

    def takes(self, value: Any) -> bool:
        """Return whether a value has a scheme and a host, and no path, or is ``null``."""
        return isinstance(value, str) and bool(ORIGIN.fullmatch(value))


class CacheAlias(Kind):
    """The name of a cache."""

    words = "an alias in CACHES"

    def takes(self, value: Any) -> bool:
        """Return whether CACHES defines it."""
        return isinstance(value, str) and value in settings.CACHES


class Function(Kind):
    """Something that can be called."""

    words = "a function"

    def takes(self, value: Any) -> bool:
        """Return whether a value can be called."""
        return callable(value)
