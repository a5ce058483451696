"""What code chooses by: the values that it compares with, and the serializers that it names."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.members import (
    find_class_attribute,
    find_member,
    find_own,
    is_framework_code,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import FunctionSource, find_assignments, is_own_member

MOST_FUNCTIONS = 60
# Methods of texts that compare them.
COMPARING = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
CHOOSING = "get_serializer_class"
MEMBERS_OF_ENUM = frozenset({"values", "choices", "names"})
SIZES = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
SIMPLE = (str, int, float, bool)


class ChoiceReading:
    """What the functions behind a choice compare with, and name.

    Attributes:
        values: the values that something is compared with, the first first.
        classes: the serializers that are named.
        is_unreadable: whether some of the code has no readable source.
    """

    def __init__(self, view_class: type, facts: Mapping[str, Any]) -> None:
        self.view_class = view_class
        self.facts = facts
        self.values: dict[Any, None] = {}
        self.classes: dict[type[BaseSerializer[Any]], None] = {}
        self.is_unreadable = False
        self.seen: set[Any] = set()

    def follow(self, function: Any, owner: type, home: type | None = None) -> None:
        for layer, _ in unwrap_function(function):
            if layer.__code__ in self.seen or is_framework_code(layer):
                continue
            self.seen.add(layer.__code__)
            source = FunctionSource(layer)
            if source.tree is None or len(self.seen) > MOST_FUNCTIONS:
                self.is_unreadable = True
            else:
                FunctionChoices(self, source, owner, home).read()

    def follow_member(self, owner: type, name: str, after: type | None = None) -> None:
        member, home = find_member(owner, name, after)
        self.follow(unwrap_member(member), owner, home)


class FunctionChoices:
    def __init__(
        self, reading: ChoiceReading, source: FunctionSource, owner: type, home: type | None
    ) -> None:
        self.reading = reading
        self.source = source
        self.owner = owner
        self.home = home
        self.assigned: dict[str, list[ast.expr]] = {}

    def read(self) -> None:
        assert self.source.tree is not None
        body = self.source.tree.body
        nodes = [node for each in self.walk(body) for node in ast.walk(each)]
        for name, value in find_assignments(nodes):
            self.assigned.setdefault(name, []).append(value)
        # A class that something is compared with is no class to choose.
        tested = {id(part) for node in nodes for part in list_tested(node)}
        for node in nodes:
            if id(node) not in tested:
                self.read_node(node)

    def walk(self, statements: list[ast.stmt]) -> Iterator[ast.AST]:
        """Yield the parts that run for this action and method."""
        for statement in statements:
            if not isinstance(statement, ast.If):
                yield statement
                if isinstance(statement, (ast.Return, ast.Raise)):
                    return
                continue
            verdict = self.decide(statement.test)
            if verdict is None:
                yield statement.test
                yield from self.walk(statement.body)
                yield from self.walk(statement.orelse)
                continue
            taken = statement.body if verdict else statement.orelse
            yield from self.walk(taken)
            if taken and isinstance(taken[-1], (ast.Return, ast.Raise)):
                return

    def decide(self, test: ast.AST) -> bool | None:
        """Return whether a test of the action or the method holds, None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decide(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self.decide(each) for each in test.values]
            decisive = isinstance(test.op, ast.Or)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        fact = self.reading.facts.get(getattr(test.left, "attr", ""))
        if fact is None:
            return None
        found = [*self.find_constants(test.comparators[0])]
        operator = test.ops[0]
        if not found or not isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return None
        return (fact in found) is isinstance(operator, (ast.Eq, ast.In))

    # --- One node

    def read_node(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Name, ast.Attribute)):
            self.note_classes(self.find_value(node))
        if isinstance(node, ast.Compare):
            self.read_comparison(node)
        elif isinstance(node, ast.MatchValue):
            self.note_values(self.find_constants(node.value))
        elif isinstance(node, ast.Subscript):
            self.read_table(node.value)
        elif isinstance(node, ast.Call):
            self.read_call(node)

    def read_comparison(self, node: ast.Compare) -> None:
        for each in (node.left, *node.comparators):
            found = [*self.find_constants(each)]
            self.note_values(found)
            # Sizes are compared with what lies above and below.
            if any(isinstance(operator, SIZES) for operator in node.ops):
                numbers = [v for v in found if type(v) in (int, float)]
                self.note_values(v + step for v in numbers for step in (1, -1))

    def read_call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr in COMPARING:
                self.note_values(v for each in node.args for v in self.find_constants(each))
            if function.attr == "get":
                self.read_table(function.value)
        if is_own_member(function):
            after = None if isinstance(function.value, ast.Name) else self.home
            return self.reading.follow_member(self.owner, function.attr, after)
        called = self.find_value(function)
        if inspect.isfunction(called):
            self.reading.follow(called, self.owner)
        return None

    def read_table(self, node: ast.AST) -> None:
        # A dictionary of what is chosen, by the values to choose by.
        keys: Iterable[Any] = ()
        if isinstance(node, ast.Name) and node.id in self.assigned:
            for value in self.assigned[node.id]:
                if isinstance(value, ast.Dict):
                    self.read_table(value)
            return
        if isinstance(node, ast.Dict):
            keys = [v for key in node.keys if key for v in self.find_constants(key)]
        else:
            table = self.find_value(node)
            if isinstance(table, Mapping):
                keys = [getattr(key, "value", key) for key in table]
                facts = [key for key in keys if key in self.reading.facts.values()]
                chosen = facts or [*table]
                self.note_classes(*(table[key] for key in chosen if key in table))
                keys = () if facts else keys
        self.note_values(keys)

    def note_values(self, values: Iterable[Any]) -> None:
        self.reading.values.update((v, None) for v in values if isinstance(v, SIMPLE) and v != "")

    def note_classes(self, *found: Any) -> None:
        for each in found:
            is_serializer = inspect.isclass(each) and issubclass(each, BaseSerializer)
            if is_serializer and not is_framework_code(each):
                self.reading.classes[each] = None

    # --- What expressions are

    def find_value(self, node: ast.AST) -> Any:
        if is_own_member(node):
            found = find_class_attribute(self.owner, node.attr)
            behind = unwrap_member(found)
            if behind is not found and inspect.isfunction(behind):
                self.reading.follow(behind, self.owner)
            return found
        return self.source.find_value(node)

    def find_constants(self, node: ast.AST) -> Iterator[Any]:
        if isinstance(node, ast.Constant):
            yield node.value
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            for each in node.elts:
                yield from self.find_constants(each)
        elif isinstance(node, ast.Dict):
            for key in filter(None, node.keys):
                yield from self.find_constants(key)
        elif isinstance(node, ast.Name) and node.id in self.assigned:
            for value in self.assigned[node.id]:
                yield from () if isinstance(value, ast.Name) else self.find_constants(value)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node, ast.Attribute) and node.attr in {"value", *MEMBERS_OF_ENUM}:
                holder = self.find_value(node.value)
                if isinstance(holder, (Enum, type)):
                    yield from flatten(holder)
                    return
            yield from flatten(self.find_value(node))


def name_serializers(view_class: type, source: FunctionSource, node: ast.AST) -> list[Any]:
    """Return the classes that an expression may be; None for the one that the view chooses."""
    reading = ChoiceReading(view_class, {})
    function = FunctionChoices(reading, source, view_class, None)
    for name, value in find_assignments(source.nodes):
        function.assigned.setdefault(name, []).append(value)
    waiting, seen, is_views_own = [node], set[str](), False
    while waiting:
        for each in ast.walk(waiting.pop()):
            if isinstance(each, ast.Name) and each.id in function.assigned:
                waiting += [] if each.id in seen else function.assigned[each.id]
                seen.add(each.id)
            elif is_own_member(each) and each.attr == CHOOSING:
                is_views_own = True
            elif not is_views_own or not isinstance(each, ast.Call):
                function.read_node(each)
    return [None] if is_views_own else [*reading.classes]


def list_tested(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        for argument in node.args[1:]:
            yield from ast.walk(argument)


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


def read_choice(
    view_class: type, members: Iterable[tuple[type, str]], facts: Mapping[str, Any]
) -> ChoiceReading:
    """Return what the project's code behind members of classes chooses by.

    Args:
        facts: the action and the method, by the names of their attributes.
    """
    reading = ChoiceReading(view_class, facts)
    for owner, name in members:
        for function in find_own(owner, name):
            homes = (b for b in owner.__mro__ if unwrap_member(vars(b).get(name)) is function)
            reading.follow(function, owner, next(homes, None))
    return reading


# A cached function cannot be called with classes: mypy does not take them for hashable.
@functools.cache
def has_own(owner: type, names: tuple[str, ...]) -> bool:
    """Return whether the project wrote code behind one of the members of a class."""
    return any(any(True for _ in find_own(owner, name)) for name in names)
