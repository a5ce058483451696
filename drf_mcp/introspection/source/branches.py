"""What of a function's source runs for one HTTP method: one action may serve several."""

from __future__ import annotations

import ast
import copy
from collections.abc import Container
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

BLOCKS = ("body", "orelse", "finalbody")


def running(tree: Node, method: str, names: dict[str, Any]) -> Node:
    if not any(isinstance(node, ast.Attribute) and is_method(node) for node in ast.walk(tree)):
        return tree
    pruned: Node = Pruning(method, names).visit(copy.deepcopy(tree))
    return pruned


def is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "method"


def leaves(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(map(leaves, statement.body))
    return isinstance(statement, (ast.Return, ast.Raise))


class Pruning(ast.NodeTransformer):
    """Leaves out branches that another method takes, and what follows the end of this one's.

    Args:
        method: the HTTP method in upper case.
        names: the global names of the function.
    """

    def __init__(self, method: str, names: dict[str, Any]) -> None:
        self.method = method
        self.names = names

    def visit_If(self, node: ast.If) -> Any:
        truth = self.truth(node.test)
        if truth is None:
            return self.generic_visit(node)
        branch = ast.Module(node.body if truth else node.orelse, [])
        return self.generic_visit(branch).body  # type: ignore[attr-defined]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                ends = [i for i, part in enumerate(block, 1) if leaves(part)]
                del block[min(ends, default=len(block)) :]
        return node

    def truth(self, test: ast.expr) -> bool | None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            truth = self.truth(test.operand)
            return None if truth is None else not truth
        if isinstance(test, ast.BoolOp):
            decides = isinstance(test.op, ast.Or)
            truths = [self.truth(part) for part in test.values]
            if decides in truths:
                return decides
            return None if None in truths else not decides
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self.compared(test.left, test.ops[0], test.comparators[0])
        return None

    def compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
        if isinstance(operator, (ast.Eq, ast.NotEq)) and is_method(right):
            left, right = right, left
        value = self.value(right)
        if not is_method(left) or value is None:
            return None
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            return bool(self.method == value) == isinstance(operator, ast.Eq)
        if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(value, Container):
            return (self.method in value) == isinstance(operator, ast.In)
        return None

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        try:
            return ast.literal_eval(node)
        except ValueError:
            return None
