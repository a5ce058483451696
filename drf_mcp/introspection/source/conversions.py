"""Classes with their own way to read input: whether REST framework's still sees all of it.

An override that hands what it was given to ``super()`` can only refuse more afterwards, so
what REST framework's own code takes describes it. Whether it does stands in its source.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from rest_framework.serializers import Serializer

from drf_mcp.introspection.handlers import parse
from drf_mcp.introspection.source.stock import function_behind, is_stock

CONVERSIONS = ("to_internal_value", "run_validation")
"""The methods of a field, or of a serializer, that read input."""

PARTS = frozenset({"fields", "child", "child_relation", "parent", "root", "validators"})
"""Attributes through which a field, or one beside it, can be changed."""

MUTATORS = frozenset(
    {"add", "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse"}
    | {"setdefault", "setlist", "sort", "update"}
)
READERS = frozenset({"get", "getlist", "items", "keys", "lower", "strip", "values"})
"""Methods of what was given that leave it as it is."""

PURE = frozenset({"bool", "callable", "hasattr", "isinstance", "len", "repr", "str", "type"})
"""Functions that leave their arguments as they are."""

NAMING = frozenset({"frozenset", "len", "list", "set", "sorted", "tuple"})
"""Functions that make nothing but names of a mapping, such as a serializer's fields."""

LEAVING = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
LATER = (ast.Lambda, ast.GeneratorExp)


def reads_as_stock(field: Any) -> bool:
    """Return True if a field takes nothing that REST framework's own code would refuse."""
    return all(
        is_stock(type(field), method) or all_hand_over(field, method) for method in CONVERSIONS
    )


def all_hand_over(field: Any, method: str) -> bool:
    """Return True if every override of a method hands what it is given to the next."""
    for base in type(field).__mro__:
        function = function_behind(vars(base).get(method))
        if function is None:
            continue
        if str(function.__module__).partition(".")[0] == "rest_framework":
            return True
        if not hands_over(function, method, field):
            return False
    return False


def hands_over(function: Any, method: str, field: Any) -> bool:
    """Return True if a method gives its argument to ``super()``, unchanged and in any case."""
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return False
    tree = parse(function.__code__)
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) < 2:
        return False
    override = Override(tree, method, field)
    for statement in override.run(tree.body):
        if not override.is_harmless(statement):
            return False
        if override.is_handing_over(statement):
            return True
        if may_leave(statement):
            return False
    return False


class Override:
    """The source of a method that overrides one of REST framework's.

    Args:
        tree: the method.
        method: its name.
        field: an instance of the class.
    """

    def __init__(self, tree: ast.FunctionDef, method: str, field: Any) -> None:
        self.method = method
        self.field = field
        self.own, self.data = (argument.arg for argument in tree.args.args[:2])
        self.around = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }

    def run(self, statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield statements, and of branches those that run.

        Of an ``if self.flag`` those are the ones that the field's flag chooses, of a ``try``
        whose handlers all raise the ones outside its handlers.
        """
        for statement in statements:
            if isinstance(statement, ast.Try) and only_refuses(statement):
                yield from self.run([*statement.body, *statement.orelse, *statement.finalbody])
                continue
            flag = self.flag(statement.test) if isinstance(statement, ast.If) else None
            if isinstance(statement, ast.If) and flag is not None:
                yield from self.run(statement.body if flag else statement.orelse)
            else:
                yield statement

    def flag(self, test: ast.expr) -> bool | None:
        """Return the truth of ``self.flag`` and ``not self.flag``, None of anything else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            truth = self.flag(test.operand)
            return None if truth is None else not truth
        if isinstance(test, ast.Attribute) and is_name(test.value, self.own):
            value = inspect.getattr_static(self.field, test.attr, None)
            return value if isinstance(value, bool) else None
        return None

    def is_handing_over(self, statement: ast.stmt) -> bool:
        """Return True if a statement calls ``super().method(data)`` whatever happens."""
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)):
            return False
        return any(self.is_super_method(node) for node in evaluated(statement.value))

    def is_super_method(self, node: ast.AST | None) -> bool:
        """Return True for ``super().method(data)``."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        named = is_super(node.func.value) and node.func.attr == self.method
        return named and len(given) == 1 and is_name(given[0], self.data)

    def is_harmless(self, statement: ast.stmt) -> bool:
        """Return True if nothing in a statement changes the field or what was given."""
        return all(self.is_harmless_part(node, statement) for node in unraised(statement))

    def is_harmless_part(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Return True if a part of a statement changes neither."""
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return isinstance(node, ast.Attribute) and self.is_own_note(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr not in MUTATORS
        if is_name(node, self.own):
            return self.leaves_field(node)
        return not is_name(node, self.data) or self.leaves_data(node, statement)

    def is_own_note(self, node: ast.Attribute) -> bool:
        """Return True for an attribute of the field that only the project knows."""
        known = inspect.getattr_static(self.field, node.attr, None) is not None
        return is_name(node.value, self.own) and not known

    def is_lasting_note(self, node: ast.AST) -> bool:
        """Return True for an attribute that only the project knows, and uses elsewhere alone."""
        if not isinstance(node, ast.Attribute) or not self.is_own_note(node):
            return False
        uses = [n for n in self.around if isinstance(n, ast.Attribute) and n.attr == node.attr]
        return uses == [node]

    def leaves_field(self, node: ast.AST) -> bool:
        """Return True if a use of the field only reads one of its plain attributes."""
        user = self.around[node]
        if isinstance(user, ast.Call):
            return is_super(user)
        if not isinstance(user, ast.Attribute):
            return False
        if user.attr in PARTS:
            return user.attr == "fields" and self.asks_names(user)
        last: ast.AST = user
        while isinstance(self.around[last], (ast.Attribute, ast.Subscript)):
            last = self.around[last]
        caller = self.around[last]
        called = isinstance(caller, ast.Call) and caller.func is last
        return not called or user.attr in ("context", "fail")

    def asks_names(self, fields: ast.AST) -> bool:
        """Return True if a serializer's fields are asked for nothing but their names."""
        user = self.around[fields]
        if isinstance(user, ast.Attribute) and user.attr == "keys":
            return True
        if isinstance(user, ast.Compare):
            return all(isinstance(operator, (ast.In, ast.NotIn)) for operator in user.ops)
        return isinstance(user, ast.Call) and is_one_of(user.func, NAMING)

    def leaves_data(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Return True if a use of what was given only reads it."""
        user = self.around[node]
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            return isinstance(statement, ast.Assign) and self.is_handing_over(statement)
        if isinstance(user, ast.Call):
            pure = PURE | NAMING if isinstance(self.field, Serializer) else PURE
            return is_one_of(user.func, pure) or self.is_super_method(user)
        if isinstance(user, ast.Assign):
            return all(map(self.is_lasting_note, user.targets))
        if isinstance(user, (ast.For, ast.comprehension)):
            return isinstance(self.field, Serializer)  # of what it takes, these are the names
        if isinstance(user, ast.keyword):
            return self.is_super_method(self.around[user])
        if isinstance(user, ast.Attribute):
            return user.attr in READERS
        return isinstance(user, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.If, ast.Subscript))


def only_refuses(statement: ast.Try) -> bool:
    """Return True if whatever a ``try`` statement catches is raised in the end."""
    handled = [s for handler in statement.handlers for s in handler.body] + statement.finalbody
    raises = all(isinstance(handler.body[-1], ast.Raise) for handler in statement.handlers)
    return raises and not any(map(may_leave, handled))


def may_leave(statement: ast.stmt) -> bool:
    """Return True if a statement may end the method without a refusal."""
    return any(isinstance(node, LEAVING) or is_skipping(node) for node in ast.walk(statement))


def is_skipping(node: ast.AST) -> bool:
    """Return True for ``raise SkipField``, which takes what was given and leaves it out."""
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return getattr(raised, "attr", getattr(raised, "id", "")) == "SkipField"


def evaluated(node: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the parts of an expression that are evaluated whatever their values are."""
    if node is None or isinstance(node, LATER):
        return
    yield node
    if isinstance(node, ast.IfExp):
        yield from evaluated(node.test)
    elif isinstance(node, COMPREHENSIONS):
        yield from evaluated(node.generators[0].iter)
    elif isinstance(node, ast.BoolOp):
        yield from evaluated(node.values[0])
    else:
        for child in ast.iter_child_nodes(node):
            yield from evaluated(child)


def unraised(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a statement consists of, but for what it raises."""
    if not isinstance(node, ast.Raise):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from unraised(child)


def is_name(node: ast.AST, name: str) -> bool:
    """Return True for a variable of a name."""
    return isinstance(node, ast.Name) and node.id == name


def is_one_of(node: ast.AST, names: frozenset[str]) -> bool:
    """Return True for a variable of one of some names."""
    return isinstance(node, ast.Name) and node.id in names


def is_super(node: ast.AST) -> bool:
    """Return True for ``super()``."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")
