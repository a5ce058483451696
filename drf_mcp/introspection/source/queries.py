"""Query parameters that code reads by itself, besides those of filters and paginators.

Serves views, serializers and backends that ask ``request.query_params`` and declare nothing.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from drf_mcp.introspection.source.function_queries import Binding, Step, find_readings
from drf_mcp.introspection.source.members import (
    find_member,
    get_synchronous_name,
    is_framework_code,
    unwrap_function,
    unwrap_member,
)

MOST_FUNCTIONS = 300
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})


@dataclass
class QueryReading:
    # names: True for one that is read as a list. computed: the source of names that only the
    # running code knows. schemas: the serializers and forms that read the query. is_open: the
    # query, or the request, goes where reading could not follow.

    names: dict[str, bool] = field(default_factory=dict)
    computed: dict[str, None] = field(default_factory=dict)
    schemas: dict[type, None] = field(default_factory=dict)
    serializers: dict[type, None] = field(default_factory=dict)
    hooks: set[str] = field(default_factory=set)
    is_open: bool = False

    def union(self, other: QueryReading) -> QueryReading:
        names = dict(self.names)
        for name, is_list in other.names.items():
            names[name] = names.get(name, False) or is_list
        return QueryReading(
            names,
            self.computed | other.computed,
            self.schemas | other.schemas,
            self.serializers | other.serializers,
            self.hooks | other.hooks,
            self.is_open or other.is_open,
        )


class QueryReader:
    # Reads the members of the class that ``self`` is of, through frameworks' hooks as well.

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.reading = QueryReading()
        self.seen: set[tuple[CodeType, frozenset[Binding]]] = set()
        # The members of the class that were followed, and those whose values were asked for.
        self.followed: set[str] = set()
        self.asked: set[Any] = {"base_filters"}

    def get_reading(self) -> QueryReading:
        names = self.reading.names
        # "a[]" is the other way to write the list "a".
        for name in [n for n in names if n.endswith("[]") and n.removesuffix("[]") in names]:
            del names[name]
        return self.reading

    def read(
        self, name: str, after: type | None = None, bindings: frozenset[Binding] = frozenset()
    ) -> None:
        self.reading.hooks.add(get_synchronous_name(name))
        self.followed.add(name)
        member, home = find_member(self.owner, name, after)
        self.follow(unwrap_member(member), home, bindings)

    def read_property(self, name: str) -> None:
        self.followed.add(name)
        member, home = find_member(self.owner, name)
        behind = unwrap_member(member)
        if behind is not member and not is_framework_code(behind):
            self.follow(behind, home)

    def follow(
        self, function: Any, home: type | None, bindings: frozenset[Binding] = frozenset()
    ) -> None:
        for layer, _ in unwrap_function(function):
            run = (layer.__code__, bindings)
            # With other bindings the same function may read other names.
            if run in self.seen:
                continue
            self.seen.add(run)
            if len(self.seen) > MOST_FUNCTIONS:
                self.reading.is_open = True
            # Frameworks call hooks that the project overrides.
            elif is_framework_code(layer):
                self.follow_hooks(layer.__code__, home)
            else:
                answers, steps = find_readings(layer, home, bindings).get_answered(self.owner)
                self.asked.update(part for asked in answers for part in asked[1:])
                self.run(steps)

    def run(self, steps: Iterable[Step]) -> None:
        for name, *arguments in steps:
            getattr(self, name)(*arguments)

    def follow_hooks(self, code: CodeType, home: type | None) -> None:
        for name, is_super in find_members_used(code):
            self.followed.add(name)
            if hasattr(self.owner, name):
                self.read(name, home if is_super else None)

    def note_name(self, name: str, is_list: bool) -> None:
        self.reading.names[name] = self.reading.names.get(name, False) or is_list

    def note_computed(self, source: str) -> None:
        self.reading.computed[source] = None

    def note_schema(self, target: type) -> None:
        self.reading.schemas[target] = None

    def note_serializer(self, target: type) -> None:
        self.reading.serializers[target] = None

    def note_open(self) -> None:
        self.reading.is_open = True


@functools.lru_cache(maxsize=1024)
def find_members_used(code: CodeType) -> tuple[tuple[str, bool], ...]:
    # In the order of the code: that of a set would differ from worker to worker.
    # Bytecode is read ten times as fast as source, of which frameworks have much.
    found: dict[tuple[str, bool], None] = {}
    before: Any = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ATTRIBUTES:
            last = before[-1] if isinstance(before, tuple) and before else before
            if last == "self":
                found[instruction.argval, False] = None
            elif "super" in code.co_names:
                found[instruction.argval, True] = None
        before = instruction.argval
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def read_query_of_member(owner: type, name: str) -> QueryReading:
    # Most views add nothing to what they inherit that the reading asks for.
    known = find_inherited(owner.__mro__[1:], name)
    for reader in known:
        if is_read_alike(owner, reader):
            return reader.reading
    reader = QueryReader(owner)
    reader.read(name)
    if not known and is_read_alike(owner, reader):
        known.append(reader)
    return reader.get_reading()


@functools.lru_cache(maxsize=1024)
def find_inherited(bases: tuple[type, ...], name: str) -> list[QueryReader]:
    return []


def is_read_alike(owner: type, reader: QueryReader) -> bool:
    return reader.followed.isdisjoint(find_changed(owner)) and reader.asked.isdisjoint(vars(owner))


@functools.lru_cache(maxsize=1024)
def find_changed(owner: type) -> frozenset[str]:
    # The members that run otherwise than in the classes behind: data over data does not.
    members = (
        (name, value, *find_member(owner, name, owner)) for name, value in vars(owner).items()
    )
    return frozenset(
        name
        for name, value, hidden, home in members
        if home is None or any(inspect.isfunction(unwrap_member(each)) for each in (value, hidden))
    )


@functools.lru_cache(maxsize=1024)
def read_query_of_class(owner: type) -> QueryReading:
    reader = QueryReader(owner)
    for name in dir(owner):
        home = find_member(owner, name)[1]
        if home is not None and not is_framework_code(home):
            reader.read(name)
    return reader.get_reading()
