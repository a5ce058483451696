"""Query parameters that code reads from ``request.query_params`` without declaring them."""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from django.forms import BaseForm
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.members import (
    find_member,
    find_members_used,
    get_synchronous_name,
    is_framework_code,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import (
    QUERY,
    FunctionSource,
    evaluates_to,
    find_assignments,
    find_lookup,
    is_name,
    is_own_member,
    is_request,
)

MOST_FUNCTIONS = 300
# Classes that read their fields from the data which an instance is given.
SCHEMAS = (BaseSerializer, BaseForm)
# The values of arguments that are no texts, and of expressions that only running code knows.
THE_REQUEST, THE_QUERY, UNKNOWN = object(), object(), object()
Texts = tuple[str, ...]
Bindings = frozenset[tuple[str, Any]]
NONE: Bindings = frozenset()
# The names of parameters, and the defaults that are texts.
Signature = tuple[tuple[str, ...], dict[str, str]]


@dataclass
class QueryReading:
    """What code reads of the query.

    Attributes:
        names: the query parameters by name; True for one that is read as a list.
        computed: the source of names that only running code knows.
        schemas: the serializers and forms that are given the query as data.
        serializers: the other serializers that are made.
        hooks: the names of the methods that were read.
        is_open: whether the query or the request is passed to code that could not be read.
    """

    names: dict[str, bool] = field(default_factory=dict)
    computed: dict[str, None] = field(default_factory=dict)
    schemas: dict[type, None] = field(default_factory=dict)
    serializers: dict[type, None] = field(default_factory=dict)
    hooks: set[str] = field(default_factory=set)
    is_open: bool = False

    def note_name(self, name: str, is_list: bool) -> None:
        self.names[name] = self.names.get(name, False) or is_list

    def union(self, other: QueryReading) -> QueryReading:
        both = QueryReading(
            dict(self.names),
            self.computed | other.computed,
            self.schemas | other.schemas,
            self.serializers | other.serializers,
            self.hooks | other.hooks,
            self.is_open or other.is_open,
        )
        for name, is_list in other.names.items():
            both.note_name(name, is_list)
        return both


class ClassReader:
    """Reads methods of a class, and the methods that these call, in frameworks too.

    Attributes:
        followed: the names of the methods and properties that were read.
        asked: the names of the attributes whose values were used.
    """

    def __init__(self, owner: type) -> None:
        self.owner = owner
        self.reading = QueryReading()
        self.seen: set[tuple[CodeType, Bindings]] = set()
        self.followed: set[str] = set()
        self.asked: set[str] = {"base_filters"}

    def get_reading(self) -> QueryReading:
        names = self.reading.names
        # "a[]" is the other way to write the list "a".
        for name in [n for n in names if n.endswith("[]") and n.removesuffix("[]") in names]:
            del names[name]
        return self.reading

    def read(self, name: str, after: type | None = None, bindings: Bindings = NONE) -> None:
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

    def follow(self, function: Any, home: type | None, bindings: Bindings = NONE) -> None:
        for layer, _ in unwrap_function(function):
            run = (layer.__code__, bindings)
            # With other bindings the same function may read other names.
            if run in self.seen:
                continue
            self.seen.add(run)
            if len(self.seen) > MOST_FUNCTIONS:
                self.reading.is_open = True
            elif not is_framework_code(layer):
                FunctionReader(self, layer, home, bindings).read()
            else:
                # Frameworks call hooks that the project overrides.
                for name, is_super in find_members_used(layer.__code__):
                    self.followed.add(name)
                    if hasattr(self.owner, name):
                        self.read(name, home if is_super else None)


class FunctionReader:
    """Reads one function.

    Attributes:
        requests, queries: the names of variables that are the request, or its query.
        texts: the texts that variables may be, by their names.
        understood: ids of expressions of the query whose uses were all read.
    """

    def __init__(
        self, reader: ClassReader, function: Any, home: type | None, bindings: Bindings
    ) -> None:
        self.reader = reader
        self.reading = reader.reading
        self.source = FunctionSource(function)
        self.home = home
        self.requests = {name for name, value in bindings if value is THE_REQUEST}
        self.queries = {name for name, value in bindings if value is THE_QUERY}
        self.texts: dict[str, Texts] = {n: (v,) for n, v in bindings if isinstance(v, str)}
        self.understood: set[int] = set()

    def read(self) -> None:
        nodes = self.source.nodes
        # An inner function may use names that are assigned after it.
        for name, value in find_assignments(nodes):
            self.learn(name, value)
        for node in nodes:
            self.read_lookup(node)
            if isinstance(node, ast.Call):
                self.read_call(node)
            elif is_own_member(node):
                self.reader.read_property(node.attr)
        self.reading.is_open |= self.source.tree is None or any(map(self.is_open_use, nodes))

    def learn(self, name: str, value: ast.expr) -> None:
        if evaluates_to(value, self.is_query):
            self.queries.add(name)
            self.understand(value)
        elif self.is_request(value):
            self.requests.add(name)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            self.texts[name] = (*self.texts.get(name, ()), value.value)

    def understand(self, node: ast.AST) -> None:
        self.understood |= {id(part) for part in ast.walk(node)}

    def is_open_use(self, node: ast.AST) -> bool:
        is_use = not isinstance(getattr(node, "ctx", None), ast.Store)
        return is_use and id(node) not in self.understood and self.is_query(node)

    def read_lookup(self, node: ast.AST) -> None:
        mapping, keys = find_lookup(node)
        if mapping is None or not evaluates_to(mapping, self.is_query):
            return
        self.understand(mapping)
        is_list = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getlist"
        for key in keys:
            found = self.find_texts(key)
            if found is None:
                self.reading.computed[ast.unparse(key)] = None
            for name in found or ():
                self.reading.note_name(name, is_list)

    def read_call(self, node: ast.Call) -> None:
        if is_own_member(node.func):
            return self.read_method(node, node.func)
        target = self.find_value(node.func)
        if inspect.isclass(target) and issubclass(target, SCHEMAS):
            return self.read_schema(node, target)
        bindings = self.bind_parameters(node, list_parameters(target))
        if is_framework_code(target):
            return None
        if bindings:
            return self.reader.follow(target, None, bindings)
        for value in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.reading.is_open |= is_name(value, "self") or self.is_request(value)
        return None

    def read_method(self, node: ast.Call, method: ast.Attribute) -> None:
        after = None if isinstance(method.value, ast.Name) else self.home
        member, _ = find_member(self.reader.owner, method.attr, after)
        self.reader.asked.add(method.attr)
        # A serializer may be a class inside the view.
        if inspect.isclass(member) and issubclass(member, SCHEMAS):
            return self.read_schema(node, member)
        names, defaults = list_parameters(unwrap_member(member))
        own = names[0 if isinstance(member, staticmethod) else 1 :]
        return self.reader.read(method.attr, after, self.bind_parameters(node, (own, defaults)))

    def read_schema(self, node: ast.Call, target: type) -> None:
        data = next((keyword.value for keyword in node.keywords if keyword.arg == "data"), None)
        if data is None and node.args and issubclass(target, BaseForm):
            data = node.args[0]
        if data is not None and evaluates_to(data, self.is_query):
            self.reading.schemas[target] = None
            self.understand(data)
        elif issubclass(target, BaseSerializer):
            self.reading.serializers[target] = None

    def bind_parameters(self, node: ast.Call, signature: Signature) -> Bindings:
        names, defaults = signature
        given = [*zip(names, node.args, strict=False)]
        given += [(word.arg, word.value) for word in node.keywords if word.arg in names]
        bound = {**defaults, **{name: self.find_meaning(value) for name, value in given}}
        return frozenset((name, value) for name, value in bound.items() if value is not None)

    def find_meaning(self, node: ast.expr) -> Any:
        if evaluates_to(node, self.is_query):
            self.understand(node)
            return THE_QUERY
        if self.is_request(node):
            return THE_REQUEST
        texts = self.find_texts(node) or ()
        return texts[0] if len(texts) == 1 else None

    def is_request(self, node: ast.AST) -> bool:
        # A serializer finds the request in its context.
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and node.slice.value == "request"
        if isinstance(node, ast.Call):
            keys = find_lookup(node)[1]
            return any(isinstance(key, ast.Constant) and key.value == "request" for key in keys)
        return is_request(node) or (isinstance(node, ast.Name) and node.id in self.requests)

    def is_query(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.queries
        # Code for requests of Django and of REST framework asks getattr(request, "query_params").
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            name = node.args[1] if len(node.args) > 1 else None
            named = isinstance(name, ast.Constant) and name.value in QUERY
            return named and self.is_request(node.args[0])
        if not isinstance(node, ast.Attribute):
            return False
        # A filter set of django-filter holds the query in self.data.
        if node.attr == "data" and is_own_member(node):
            return hasattr(self.reader.owner, "base_filters")
        return node.attr in QUERY and self.is_request(node.value)

    def find_texts(self, node: ast.AST) -> Texts | None:
        # None for what is no text, or one that only running code knows.
        if isinstance(node, ast.Name) and node.id in self.texts:
            return self.texts[node.id]
        value = self.find_value(node)
        if value is None or (isinstance(node, ast.Constant) and not isinstance(value, str)):
            return ()
        return (value,) if isinstance(value, str) else None

    def find_value(self, node: ast.AST) -> Any:
        # The value of a constant, of an attribute of the class, or of a name from outside.
        if isinstance(node, ast.Constant):
            return node.value
        holder = getattr(node, "value", None)
        by_class = getattr(holder, "id", getattr(holder, "attr", "")) in ("cls", "__class__")
        if is_own_member(node) or (isinstance(node, ast.Attribute) and by_class):
            self.reader.asked.add(node.attr)
            return inspect.getattr_static(self.reader.owner, node.attr, UNKNOWN)
        value = self.source.find_value(node)
        return UNKNOWN if value is None else value


def list_parameters(function: Any) -> Signature:
    return read_signature(function) if inspect.isfunction(function) else ((), {})


@functools.lru_cache(maxsize=4096)
def read_signature(function: Any) -> Signature:
    parameters = inspect.signature(function).parameters
    texts = {n: each.default for n, each in parameters.items() if isinstance(each.default, str)}
    return tuple(parameters), texts


@functools.lru_cache(maxsize=1024)
def read_query_of_member(owner: type, name: str) -> QueryReading:
    # Most views change nothing that is read of their bases: one reading serves all of them.
    shared = get_shared_readers(owner.__mro__[1:], name)
    for reader in shared:
        if inherits_all(owner, reader):
            return reader.reading
    reader = ClassReader(owner)
    reader.read(name)
    if not shared and inherits_all(owner, reader):
        shared.append(reader)
    return reader.get_reading()


@functools.lru_cache(maxsize=1024)
def get_shared_readers(bases: tuple[type, ...], name: str) -> list[ClassReader]:
    return []  # filled by the caller, and kept by the cache


def inherits_all(owner: type, reader: ClassReader) -> bool:
    """Return whether a class has nothing of its own that the reader came across."""
    return reader.followed.isdisjoint(find_changed(owner)) and reader.asked.isdisjoint(vars(owner))


@functools.lru_cache(maxsize=1024)
def find_changed(owner: type) -> frozenset[str]:
    # The members that are new in a class, and its methods. A value in place of another value is no
    # change: only `asked` says whether it was used.
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
    reader = ClassReader(owner)
    for name in dir(owner):
        home = find_member(owner, name)[1]
        if home is not None and not is_framework_code(home):
            reader.read(name)
    return reader.get_reading()
