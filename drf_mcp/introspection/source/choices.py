"""What code chooses by: the values that it compares with, and the serializers that it names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.members import find_own, is_framework_code
from drf_mcp.introspection.source.readings import SourceReader
from drf_mcp.introspection.source.values import SIMPLE, SourceListener


class ChoiceReader(SourceReader):
    follows_all = True


class ChoiceReading(SourceListener):
    """What the functions behind a choice compare with, and name.

    Attributes:
        values: the values that something is compared with, the first first.
        classes: the serializers that are named.
        is_unreadable: whether some of the code has no readable source.
    """

    def __init__(self) -> None:
        self.values: dict[Any, None] = {}
        self.classes: dict[type[BaseSerializer[Any]], None] = {}
        self.is_unreadable = False

    def hears(self, run: Any) -> bool:
        return not run.is_dead

    def name(self, value: Any, run: Any) -> None:
        is_serializer = inspect.isclass(value) and issubclass(value, BaseSerializer)
        if is_serializer and not is_framework_code(value):
            self.classes[value] = None

    def weigh(self, values: Iterable[Any], run: Any, **how: Any) -> None:
        found = [value for each in values for value in flatten(each)]
        # Sizes are compared with what lies above and below.
        by_size = how.get("by_size")
        numbers = [value for value in found if by_size and type(value) in (int, float)]
        found += [value + step for value in numbers for step in (1, -1)]
        self.values.update((value, None) for value in found if value not in ("", None))

    def lose(self, function: Any, run: Any) -> None:
        self.is_unreadable = True


def flatten(value: Any) -> Iterator[Any]:
    """Yield the simple values in a constant."""
    if isinstance(value, Enum):
        yield value.value
    elif isinstance(value, SIMPLE):
        yield value
    elif isinstance(value, type) and issubclass(value, Enum):
        yield from (each.value for each in value)
    elif isinstance(value, (list, tuple, set, frozenset, Mapping)):
        for each in value:
            yield from flatten(each)


def read_choice(members: Iterable[tuple[type, str]], facts: Mapping[str, Any]) -> ChoiceReading:
    """Return what the project's code behind members of classes chooses by.

    Args:
        facts: the action and the method, by the names of their attributes.
    """
    reading, names = ChoiceReading(), dict[Any, list[str]]()
    for owner, name in members:
        names.setdefault(owner, []).append(name)
    for owner, several in names.items():
        own = follow_choice(owner, tuple(several), tuple(sorted(facts.items())))
        reading.values |= own.values
        reading.classes |= own.classes
        reading.is_unreadable |= own.is_unreadable
    return reading


# A cached function cannot be called with classes: mypy does not take them for hashable.
@functools.lru_cache(maxsize=4096)
def follow_choice(
    owner: type, names: tuple[str, ...], facts: tuple[tuple[str, Any], ...]
) -> ChoiceReading:
    reading = ChoiceReading()
    reader = ChoiceReader(owner, reading, **dict(facts))
    for name in names:
        if has_own(owner, (name,)):
            reader.read(name)
    return reading


@functools.cache
def has_own(owner: type, names: tuple[str, ...]) -> bool:
    """Return whether the project wrote code behind one of the members of a class."""
    return any(any(True for _ in find_own(owner, name)) for name in names)
