"""Parts of the body, and what code takes of them, place by place.

Code that names a member by a literal reads this member. Code that takes an object whole, or by a
name that is no literal, or gives it or the request to code that cannot be read, may read any.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from drf_mcp.introspection.source.members import (
    find_attributes_set,
    is_framework_code,
    read_code_names,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import REQUEST

ANY = "*"
COLLECTIONS = (tuple, list, set, frozenset, dict)


class PartOfBody(NamedTuple):
    """A part of the body.

    Attributes:
        root: ``body``; ``self``, the data of the serializer that is read; ``parent``, the data of
            the object around a field.
        steps: the names of members down to the part, `ANY` for items.
        is_copy_of_fields: whether it has the serializer's own fields alone, as `get_initial()`.
    """

    root: str
    steps: tuple[str, ...] = ()
    is_copy_of_fields: bool = False

    def step(self, name: str) -> PartOfBody:
        return PartOfBody(self.root, (*self.steps, name))


class Instance(NamedTuple):
    """An instance of a class whose methods can be read; `after` for ``super()``."""

    kind: type
    after: type | None = None


class Known(NamedTuple):
    """A global, or the value of a class attribute."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.value is other.value


class LiteralText(NamedTuple):
    """A text that the code names."""

    text: str


class Texts(NamedTuple):
    """Texts to go through, or the keys of a table."""

    texts: tuple[str, ...]


class Key(NamedTuple):
    """The name of one of the members of a part."""

    part: PartOfBody


class Keywords(NamedTuple):
    """What ``**kwargs`` has that is a part of the body or the request, by name."""

    values: tuple[tuple[str, Any], ...]


# The fields of the serializer that is read, and the name of one of them.
THE_REQUEST, CONTEXT, FIELDS, FIELD = "request", "context", "fields", "field"
MOST_TEXTS = 100
# The methods that are given the data of a serializer, and of the object around a field.
OF_OWN, OF_PARENT = ("to_internal_value", "run_validation"), ("get_value",)
# Code without one of these names, and without such arguments, reads nothing of the body.
TELLING = REQUEST | {"initial_data", "get_initial", "context"}
Values: TypeAlias = frozenset[Any]
NOTHING: Values = frozenset()
Names: TypeAlias = dict[str, Values]
# The attributes of an instance that are true or false.
Flags: TypeAlias = tuple[tuple[str, bool], ...]


@dataclass
class BodyReading:
    """What code takes of the body.

    Attributes:
        names: the members that are named, by the part that has them.
        opened: the parts where any member may be read, each with the line that reads it, and
            whether what is inside goes the same way.
        made: the serializers and forms that are given a part.
        asks_view: whether the view in the context of a serializer is read.
    """

    names: dict[PartOfBody, dict[str, None]] = field(default_factory=dict)
    opened: dict[PartOfBody, tuple[str, bool]] = field(default_factory=dict)
    made: dict[tuple[PartOfBody, type], None] = field(default_factory=dict)
    asks_view: bool = False


def write_part(part: PartOfBody) -> str:
    roots = {"body": "request.data", "self": "self.initial_data", "parent": "the object around"}
    steps = "".join("[...]" if name == ANY else f"[{name!r}]" for name in part.steps)
    return f"{roots[part.root]}{steps}"


def is_item(value: Any) -> bool:
    return isinstance(value, PartOfBody) and value.steps[-1:] == (ANY,)


def find_literal_texts(values: Values) -> list[str]:
    """Return the texts of what code goes through, or of the keys of a table."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, Texts):
            found += value.texts
        elif isinstance(value, Known) and isinstance(value.value, COLLECTIONS):
            found += list(value.value)[:MOST_TEXTS]
    return [text for text in found if isinstance(text, str)]


def is_library(target: Any) -> bool:
    """Return whether code is Python's own, which reads no request."""
    package = str(getattr(target, "__module__", "") or "").partition(".")[0]
    return package in sys.stdlib_module_names or package in ("builtins", "drf_mcp")


def list_functions(owner: type) -> Iterator[tuple[Any, type]]:
    for base in owner.__mro__:
        if not is_framework_code(base):
            for member in list(vars(base).values()):
                function = unwrap_member(member)
                if inspect.isfunction(function):
                    yield function, base


@functools.lru_cache(maxsize=4096)
def find_flags(owner: type) -> frozenset[str]:
    """Return the names that code of a class reads, and sets nowhere but in ``__init__``."""
    read, changed = set[str](), set[str]()
    for function, _ in list_functions(owner):
        read |= read_code_names(function.__code__)[0]
        if function.__name__ != "__init__":
            changed |= find_attributes_set(function.__code__)
    return frozenset(read - changed)


def has_parts(given: Names) -> bool:
    parts = (PartOfBody, Key, Keywords)
    every = frozenset().union(*given.values()) if given else NOTHING
    return any(v in (THE_REQUEST, CONTEXT) or isinstance(v, parts) for v in every)


def names_any(function: Any, telling: frozenset[str]) -> bool:
    names, keys = read_code_names(function.__code__)
    return not telling.isdisjoint(names) or "request" in keys


@functools.lru_cache(maxsize=4096)
def find_telling(owner: type) -> frozenset[str]:
    """Return the names that lead to the body in the code of a class, its own members among them."""
    telling, functions = TELLING, list(list_functions(owner))
    while True:
        found = {each.__name__ for each, _ in functions if names_any(each, telling)} - telling
        if not found:
            return telling
        telling |= found


def make_given(function: Any, owner: type) -> Names:
    parameters = [*inspect.signature(function).parameters]
    given: Names = {}
    if parameters[:1] == ["self"]:
        given["self"] = frozenset([Instance(owner)])
    root = "self" if function.__name__ in OF_OWN else "parent"
    if len(parameters) > 1 and function.__name__ in (*OF_OWN, *OF_PARENT):
        given[parameters[1]] = frozenset([PartOfBody(root)])
    return given
