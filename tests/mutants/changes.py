"""Changes of one function: what a slip of the hand makes of a line that guards something.

A change names the function's part by kind and ordinal, or by a name, so a new layout of the code
leaves it as it is. Conditions are the tests of ``if``, ``while``, conditional expressions and
comprehensions, and what a ``return`` compares or joins, in the order of the source.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Change:
    """A change of a function.

    Attributes:
        name: how it is written in `kept`.
        edit: changes the function's tree.
    """

    name: str
    edit: Callable[[ast.AST], None]

    def apply(self, text: str, function: str) -> str:
        """Return a module's text in which the function, such as ``Caller.ask``, is changed."""
        tree = ast.parse(text)
        self.edit(find_functions(tree)[function])
        return ast.unparse(tree)


def find_functions(tree: ast.AST, above: str = "") -> dict[str, Function]:
    """Return the functions of a tree by their qualified names, those in functions as well."""
    found: dict[str, Function] = {}
    for node in ast.iter_child_nodes(tree):
        name = above
        if isinstance(node, Function | ast.ClassDef):
            name = f"{above}.{node.name}".removeprefix(".")
            if not isinstance(node, ast.ClassDef):
                found.setdefault(name, node)
        found = {**find_functions(node, name), **found}
    return found


def find_conditions(function: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Return the places of the conditions: node, attribute, and index in a list."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            found.append((node, "test", None))
        elif isinstance(node, ast.comprehension):
            found += [(node, "ifs", index) for index in range(len(node.ifs))]
        elif isinstance(node, ast.Return) and isinstance(
            node.value, ast.BoolOp | ast.Compare | ast.UnaryOp
        ):
            found.append((node, "value", None))
    return sorted(found, key=lambda place: locate(get(*place)))


def locate(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def get(node: ast.AST, attribute: str, index: int | None) -> ast.AST:
    value = getattr(node, attribute)
    return value if index is None else value[index]


def put(value: object, node: ast.AST, attribute: str, index: int | None) -> None:
    new = ast.Constant(value)
    if index is None:
        setattr(node, attribute, new)
    else:
        getattr(node, attribute)[index] = new


def fix(kind: str, value: bool, number: int, part: int | None) -> Change:
    def edit(function: ast.AST) -> None:
        place = find_conditions(function)[number - 1]
        if part is not None:
            place = (get(*place), "values", part - 1)
        put(value, *place)

    return Change(f"{kind}({number}{'' if part is None else f', {part}'})", edit)


def never(number: int, part: int | None = None) -> Change:
    """A condition, or a part of its ``and`` or ``or``, is always false."""
    return fix("never", False, number, part)


def always(number: int, part: int | None = None) -> Change:
    """A condition, or a part of its ``and`` or ``or``, is always true."""
    return fix("always", True, number, part)


def returns(value: str) -> Change:
    """The function returns a value and does nothing else."""

    def edit(function: ast.AST) -> None:
        function.body = ast.parse(value).body  # type: ignore[attr-defined]
        function.body = [ast.Return(function.body[0].value)]  # type: ignore[attr-defined]

    return Change(f"returns({value})", edit)


def called_name(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def drop_call(name: str) -> Change:
    """The statements that call something, or raise it, are left out."""

    class Dropping(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign) and any(
                called_name(each) == name for each in ast.walk(node)
            ):
                return ast.Pass()
            return self.generic_visit(node)

    return Change(f"drop_call({name})", lambda function: Dropping().visit(function))


def drop(name: str) -> Change:
    """The arguments of a name, and the members of dicts, are left out."""

    def edit(function: ast.AST) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                node.keywords = [each for each in node.keywords if each.arg != name]
            elif isinstance(node, ast.Dict):
                kept = [
                    pair
                    for pair in zip(node.keys, node.values, strict=True)
                    if pair[0] is None or ast.unparse(pair[0]) not in (name, repr(name))
                ]
                node.keys, node.values = [key for key, _ in kept], [value for _, value in kept]

    return Change(f"drop({name})", edit)


def rename(old: str, new: str) -> Change:
    """Another name, or attribute, is read."""

    def edit(function: ast.AST) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id == old:
                node.id = new
            elif isinstance(node, ast.Attribute) and node.attr == old:
                node.attr = new

    return Change(f"rename({old}, {new})", edit)


def changes_tree(change: Change, function: Function) -> bool:
    """Return whether a change of a function makes another function of it."""
    changed = copy.deepcopy(function)
    change.edit(changed)
    return ast.dump(changed) != ast.dump(function)
