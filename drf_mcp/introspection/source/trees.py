"""The syntax trees of functions, and the keys that they read of a mapping."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, TypeGuard

REQUEST = frozenset({"request", "_request", "req"})
BODY = frozenset({"data", "POST", "FILES", "body", "stream"})
QUERY = frozenset({"query_params", "GET"})
READERS = frozenset({"get", "getlist", "pop"})
COPIES = frozenset({"copy", "deepcopy", "dict"})
IsMapping = Callable[[ast.AST], bool]


class FunctionTree:
    # The nodes of a function, for all classes that inherit it. root: None without readable source.

    def __init__(self, root: ast.FunctionDef | ast.AsyncFunctionDef | None) -> None:
        self.root = root

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return () if self.root is None else tuple(ast.walk(self.root))

    @functools.cached_property
    def body_nodes(self) -> tuple[ast.AST, ...]:
        # Statement by statement: decorators and defaults are evaluated elsewhere.
        statements = () if self.root is None else self.root.body
        return tuple(node for statement in statements for node in ast.walk(statement))

    @functools.cached_property
    def body_calls(self) -> tuple[ast.Call, ...]:
        return tuple(node for node in self.body_nodes if isinstance(node, ast.Call))


class FunctionSource:
    # tree: None for a function without readable source.

    def __init__(self, function: Any) -> None:
        self.function = function
        is_function = inspect.isfunction(function)
        self.walked = parse_function(function.__code__) if is_function else UNREADABLE
        self.tree = self.walked.root

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return self.walked.nodes

    def find_value(self, node: ast.AST) -> Any:
        # Only names from outside the function have a value that is known without running it.
        if isinstance(node, ast.Name):
            if node.id in self.function.__code__.co_varnames:
                return None
            if node.id in self.function.__code__.co_freevars:
                return inspect.getclosurevars(self.function).nonlocals.get(node.id)
            return self.function.__globals__.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            holder = self.find_value(node.value)
            return None if holder is None else inspect.getattr_static(holder, node.attr, None)
        return None


class MappingReads:
    def __init__(self, nodes: tuple[ast.AST, ...], is_mapping: IsMapping) -> None:
        self.nodes = nodes
        self.is_original = is_mapping
        values: dict[str, list[bool]] = {}
        for name, value in find_assignments(nodes):
            values.setdefault(name, []).append(evaluates_to(value, is_mapping))
        # A variable that is something else at times is not the mapping.
        self.variables = frozenset(name for name in values if all(values[name]))

    def is_mapping(self, node: ast.AST | None) -> bool:
        if isinstance(node, ast.Name) and node.id in self.variables:
            return True
        return node is not None and self.is_original(node)

    @property
    def keys(self) -> Iterator[str]:
        for node in self.nodes:
            mapping, keys = find_lookup(node)
            if self.is_mapping(mapping):
                yield from pick_texts(keys)
            if isinstance(node, ast.For):
                yield from self.find_keys_of_loop(node)

    def find_keys_of_loop(self, loop: ast.For) -> Iterator[str]:
        # for name in ("a", "b"): request.data[name]
        items = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
        variable = getattr(loop.target, "id", None)
        lookups = (find_lookup(node) for node in ast.walk(loop))
        keys = (key for mapping, keys in lookups if self.is_mapping(mapping) for key in keys)
        if any(isinstance(key, ast.Name) and key.id == variable for key in keys):
            yield from pick_texts(items)

    def is_unchanged(self, node: ast.AST | None) -> bool | None:
        """Return whether an expression is the mapping as it came, None for something else.

        A variable counts as changed: code may have added keys to its mapping.
        """
        if evaluates_to(node, self.is_original):
            return True
        if self.is_mapping(node):
            return False
        if isinstance(node, ast.Dict):
            spread = [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
            return False if any(map(self.is_mapping, spread)) else None
        return None


UNREADABLE = FunctionTree(None)


@functools.lru_cache(maxsize=4096)
def parse_function(code: CodeType) -> FunctionTree:
    try:
        tree = ast.parse(textwrap.dedent(read_source(code)))
    except (OSError, TypeError, SyntaxError):
        return UNREADABLE
    statement = tree.body[0] if tree.body else None
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return FunctionTree(statement)
    return UNREADABLE


def read_source(code: CodeType) -> str:
    # `inspect.getsource` would look through every module of the process for the file's.
    if lines := linecache.getlines(code.co_filename):
        return "".join(inspect.getblock(lines[code.co_firstlineno - 1 :]))
    return inspect.getsource(code)


def find_assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def is_own_member(node: ast.AST) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute):
        return False
    if isinstance(node.value, ast.Call):
        return is_name(node.value.func, "super")
    return is_name(node.value, "self")


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_request(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    return name in REQUEST


def is_request_member(node: ast.AST, names: frozenset[str] = BODY) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names and is_request(node.value)


def find_lookup(node: ast.AST) -> tuple[ast.AST | None, list[ast.expr]]:
    """Return the mapping whose keys an expression reads, and the keys: get(), [] and ``in``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in READERS:
            return node.func.value, node.args[:1]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.value, [node.slice]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], [node.left]
    return None, []


def find_copied(node: ast.Call) -> ast.AST | None:
    # dict(data, key=value) is no copy: it adds to the mapping.
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name not in COPIES or node.keywords:
        return None
    return node.args[0] if node.args else getattr(node.func, "value", None)


def evaluates_to(node: ast.AST | None, is_mapping: IsMapping) -> bool:
    """Return whether an expression is a mapping, a copy of it, or may be it."""
    if isinstance(node, ast.BoolOp):
        return any(evaluates_to(value, is_mapping) for value in node.values)
    if isinstance(node, ast.IfExp):
        return evaluates_to(node.body, is_mapping) or evaluates_to(node.orelse, is_mapping)
    if isinstance(node, ast.Call):
        copied = find_copied(node)
        return is_mapping(node) or (copied is not None and is_mapping(copied))
    return node is not None and is_mapping(node)


def pick_texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
