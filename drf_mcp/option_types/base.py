"""What every kind of value has: words for it, and a look at a value."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = 80


class Kind:
    """A kind of value.

    Args:
        none: None is taken as well.

    Attributes:
        words: the values it takes, as what follows "must be".
    """

    words = "anything"

    def __init__(self, *, none: bool = False) -> None:
        self.none = none

    def takes(self, value: Any) -> bool:
        """Return whether a value, not None, is of this kind."""
        return True

    def resolve(self, value: Any, place: str) -> Any:
        """Return the value that was meant: a class for its dotted path.

        Args:
            value: what was given.
            place: where it was given.

        Raises:
            ImproperlyConfigured: if it cannot be imported.
        """
        return value

    def fault(self, value: Any) -> str:
        """Return what is wrong with a value, as the end of a sentence; "" if nothing is."""
        if (value is None and self.none) or (value is not None and self.takes(value)):
            return ""
        return f"must be {self.accepted}, not {shown(value)}."

    @property
    def accepted(self) -> str:
        """The values it takes, None among them where it is."""
        return f"{self.words}, or None" if self.none else self.words

    def read(self, value: Any, place: str) -> Any:
        """Return the value that was meant, once it is of this kind.

        Raises:
            ImproperlyConfigured: if it is not.
        """
        value = self.resolve(value, place)
        if fault := self.fault(value):
            raise ImproperlyConfigured(f"{place} {fault}")
        return value


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    return SHORT.repr(value)


def refuse_wrong_values(kinds: Mapping[str, Kind], given: Mapping[str, Any], place: str) -> None:
    """Raise for the first value that is not of the kind of its name.

    Args:
        kinds: the kind of each name.
        given: values by name.
        place: where they were given, as the message begins.

    Raises:
        ImproperlyConfigured: naming it and what is accepted.
    """
    for name, value in given.items():
        if name in kinds and (fault := kinds[name].fault(value)):
            raise ImproperlyConfigured(f"{place}: {name} {fault}")
