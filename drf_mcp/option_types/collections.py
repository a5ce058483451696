"""Kinds of lists and dicts of other kinds, and one kind or another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_mcp.option_types.base import Kind, shown
from drf_mcp.option_types.values import Text


class ListOf(Kind):
    """A list or tuple of values of one kind.

    Args:
        item: the kind of each.
        distinct: nothing is taken twice.
        none: None is taken as well.
    """

    def __init__(self, item: Kind, *, distinct: bool = False, none: bool = False) -> None:
        super().__init__(none=none)
        self.item = item
        self.distinct = distinct

    @property
    def words(self) -> str:  # type: ignore[override]
        """The values it takes."""
        return f"a list, each item {self.item.accepted}"

    def resolve(self, value: Any, place: str) -> Any:
        """Return the list with each item as it was meant."""
        if not isinstance(value, (list, tuple)):
            return value
        return [self.item.resolve(item, place) for item in value]

    def fault(self, value: Any) -> str:
        """Return what is wrong with a list or the first wrong item in it."""
        if not isinstance(value, (list, tuple)):
            return super().fault(value)
        for number, item in enumerate(value):
            if self.item.fault(item):
                return f"holds {shown(item)}, which is not {self.item.accepted}."
            if self.distinct and item in value[:number]:
                return f"holds {shown(item)} twice."
        return ""

    def takes(self, value: Any) -> bool:
        """Return False: a list has faults of its own."""
        return False


class Words(ListOf):
    """Words in any collection but a text, which would be read letter by letter."""

    def __init__(self, *, none: bool = False) -> None:
        super().__init__(Text(), none=none)

    def fault(self, value: Any) -> str:
        """Return what is wrong with a collection of words."""
        return super().fault(list(value) if isinstance(value, (set, frozenset)) else value)


class MappingOf(Kind):
    """A dict.

    Args:
        item: the kind of each value; the keys are texts.
        words: the values it takes.
        none: None is taken as well.
    """

    def __init__(self, item: Kind, words: str, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.item = item
        self.words = words

    def takes(self, value: Any) -> bool:
        """Return whether a value is a dict from texts to values of the kind."""
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and not self.item.fault(entry) for key, entry in value.items()
        )


class Either(Kind):
    """One kind or the other."""

    def __init__(self, *kinds: Kind, none: bool = False) -> None:
        super().__init__(none=none)
        self.kinds = kinds
        self.words = " or ".join(kind.words for kind in kinds)

    def takes(self, value: Any) -> bool:
        """Return whether one of the kinds takes a value."""
        return any(kind.takes(value) for kind in self.kinds)
