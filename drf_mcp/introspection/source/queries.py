"""Query parameters that code reads by itself, beside those of filters and paginators.

Serves views, serializers and backends that ask ``request.query_params`` and declare nothing.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from django.forms import BaseForm
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.meanings import Meanings
from drf_mcp.introspection.source.members import (
    find_member,
    get_synchronous_name,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import (
    FunctionSource,
    evaluates_to,
    find_lookup,
    is_name,
    is_own_member,
)

# Packages whose own parameters are known without reading how they do it.
FRAMEWORKS = frozenset(
    {"builtins", "django", "django_filters", "drf_spectacular", "logging", "rest_framework"}
)
MOST_FUNCTIONS = 300
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})

Bindings = Mapping[str, Any]


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


def is_framework_code(owner: Any) -> bool:
    return str(getattr(owner, "__module__", "")).partition(".")[0] in FRAMEWORKS


class QueryReader:
    # Reads the members of the class that ``self`` is of, through frameworks' hooks as well.

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.reading = QueryReading()
        self.seen: set[tuple[CodeType, frozenset[tuple[str, Any]]]] = set()

    def get_reading(self) -> QueryReading:
        names = self.reading.names
        # "a[]" is the other way to write the list "a".
        for name in [n for n in names if n.endswith("[]") and n.removesuffix("[]") in names]:
            del names[name]
        return self.reading

    def read(self, name: str, after: type | None = None, bindings: Bindings | None = None) -> None:
        self.reading.hooks.add(get_synchronous_name(name))
        member, home = find_member(self.owner, name, after)
        self.follow(unwrap_member(member), home, bindings or {})

    def follow(self, function: Any, home: type | None, bindings: Bindings) -> None:
        for layer, _ in unwrap_function(function):
            run = (layer.__code__, frozenset(bindings.items()))
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
                FunctionReader(self, layer, home, bindings).read()

    def follow_hooks(self, code: CodeType, home: type | None) -> None:
        for name, is_super in find_members_used(code):
            if hasattr(self.owner, name):
                self.read(name, home if is_super else None)


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


class FunctionReader:
    def __init__(
        self, reader: QueryReader, function: Any, home: type | None, bindings: Bindings
    ) -> None:
        self.reader = reader
        self.reading = reader.reading
        self.source = FunctionSource(function)
        self.home = home
        self.meanings = Meanings(reader.owner, self.source, bindings)

    def read(self) -> None:
        if self.source.tree is None:
            self.reading.is_open = True
            return
        nodes = self.source.nodes
        # Names may be used in an inner function that stands before their assignment.
        for node in nodes:
            self.meanings.learn(node)
        for node in nodes:
            self.read_lookup(node)
            if isinstance(node, ast.Call):
                self.read_call(node)
            elif is_own_member(node):
                self.read_property(node.attr)
        if any(map(self.meanings.is_open_use, nodes)):
            self.reading.is_open = True

    def read_lookup(self, node: ast.AST) -> None:
        mapping, keys = find_lookup(node)
        if mapping is None or not evaluates_to(mapping, self.meanings.is_query):
            return
        self.meanings.understand(mapping)
        is_list = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getlist"
        for key in keys:
            found = self.meanings.find_texts(key)
            if found is None:
                self.reading.computed[ast.unparse(key)] = None
            for name in found or ():
                self.reading.names[name] = self.reading.names.get(name, False) or is_list

    def read_property(self, name: str) -> None:
        member, home = find_member(self.reader.owner, name)
        behind = unwrap_member(member)
        if behind is not member and not is_framework_code(behind):
            self.reader.follow(behind, home, {})

    def read_call(self, node: ast.Call) -> None:
        if is_own_member(node.func):
            return self.read_method(node, node.func)
        target = self.meanings.find_value(node.func)
        if inspect.isclass(target) and issubclass(target, (BaseSerializer, BaseForm)):
            return self.read_schema(node, target)
        bindings = self.bind_parameters(node, target, skipped=0)
        if inspect.isfunction(target) and not is_framework_code(target) and bindings:
            return self.reader.follow(target, None, bindings)
        values = (*node.args, *(keyword.value for keyword in node.keywords))
        if not is_framework_code(target) and any(map(self.reaches_query, values)):
            self.reading.is_open = True
        return None

    def read_method(self, node: ast.Call, method: ast.Attribute) -> None:
        self.reading.hooks.add(get_synchronous_name(method.attr))
        after = None if isinstance(method.value, ast.Name) else self.home
        member, home = find_member(self.reader.owner, method.attr, after)
        skipped = 0 if isinstance(member, staticmethod) else 1
        behind = unwrap_member(member)
        self.reader.follow(behind, home, self.bind_parameters(node, behind, skipped=skipped))

    def reaches_query(self, node: ast.AST) -> bool:
        return is_name(node, "self") or self.meanings.is_request(node)

    def read_schema(self, node: ast.Call, target: type) -> None:
        data = next((keyword.value for keyword in node.keywords if keyword.arg == "data"), None)
        if data is None and node.args and issubclass(target, BaseForm):
            data = node.args[0]
        if data is not None and evaluates_to(data, self.meanings.is_query):
            self.reading.schemas[target] = None
            self.meanings.understand(data)
        elif issubclass(target, BaseSerializer):
            self.reading.serializers[target] = None

    def bind_parameters(self, node: ast.Call, function: Any, *, skipped: int) -> dict[str, Any]:
        if not inspect.isfunction(function):
            return {}
        parameters = inspect.signature(function).parameters
        names = list(parameters)[skipped:]
        defaults = {name: p.default for name, p in parameters.items() if isinstance(p.default, str)}
        pairs = [*zip(names, node.args, strict=False)]
        pairs += [(word.arg, word.value) for word in node.keywords if word.arg in names]
        found = {name: self.meanings.find_meaning(value) for name, value in pairs}
        return {name: v for name, v in {**defaults, **found}.items() if v is not None}


@functools.lru_cache(maxsize=1024)
def read_query_of_member(owner: type, name: str) -> QueryReading:
    reader = QueryReader(owner)
    reader.read(name)
    return reader.get_reading()


@functools.lru_cache(maxsize=1024)
def read_query_of_class(owner: type) -> QueryReading:
    reader = QueryReader(owner)
    for name in dir(owner):
        home = find_member(owner, name)[1]
        if home is not None and not is_framework_code(home):
            reader.read(name)
    return reader.get_reading()
