"""Whose code stands behind a member of a class, and what its source rules out."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.functional import cached_property

from drf_mcp.introspection.source.trees import parse


def is_drf_code(owner: type, *names: str) -> bool:
    """Return True if REST framework itself wrote each of the class's attributes.

    Decorators that keep the wrapped function's ``__module__``, as `functools.wraps`
    does, count as what they wrap: caching or logging a method does not change what
    it returns.
    """
    return all(find_package(owner, name) == "rest_framework" for name in names)


def find_class_attribute(owner: type, name: str) -> Any:
    """Return a class attribute without calling its descriptor."""
    return next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)


def find_package(owner: type, name: str) -> str:
    """Return the top-level package that defines a class's attribute; "" if nothing does."""
    attribute = inspect.getattr_static(owner, name, None)
    module = getattr(unwrap_member(attribute), "__module__", None) or ""
    return str(module).partition(".")[0]


def unwrap_member(attribute: Any) -> Any:
    """Return the function inside a property, a class method or a cached property."""
    if isinstance(attribute, property):
        return attribute.fget
    if isinstance(attribute, (cached_property, functools.cached_property)):
        return attribute.func
    return getattr(attribute, "__func__", attribute)


CONVERSIONS = ("to_internal_value", "run_validation")
"""The methods of a field, or of a serializer, that read input."""


def converts_like_drf(field: Any) -> bool:
    """Return True if a field takes nothing that REST framework's own code would refuse."""
    return all(reaches_rest_framework(field, method) for method in CONVERSIONS)


def reaches_rest_framework(field: Any, method: str) -> bool:
    # False too for a package that writes the method anew, without a word of REST framework's.
    for base in type(field).__mro__:
        function = unwrap_member(vars(base).get(method))
        if function is None:
            continue
        if str(function.__module__).partition(".")[0] == "rest_framework":
            return True
        if not begins_with_super(function, method, field):
            return False
    return False


def begins_with_super(function: Any, method: str, field: Any) -> bool:
    # A decorator may change what the method is given.
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return False
    tree = parse(function.__code__)
    if not isinstance(tree, ast.FunctionDef) or len(tree.args.args) < 2:
        return False
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    beginning = first_statement(body, tree.args.args[0].arg, field)
    return evaluates_super(getattr(beginning, "value", None), method, tree.args.args[1].arg)


def first_statement(body: list[ast.stmt], own: str, field: Any) -> ast.stmt | None:
    for statement in body:
        flag = flag_of(statement.test, own, field) if isinstance(statement, ast.If) else None
        if not isinstance(statement, ast.If) or flag is None:
            return statement
        chosen = first_statement(statement.body if flag else statement.orelse, own, field)
        if chosen is not None:
            return chosen
    return None


def flag_of(test: ast.expr, own: str, field: Any) -> bool | None:
    if not isinstance(test, ast.Attribute) or not is_name(test.value, own):
        return None
    value = inspect.getattr_static(field, test.attr, None)
    return value if isinstance(value, bool) else None


def evaluates_super(node: ast.AST | None, method: str, argument: str) -> bool:
    # Only what is evaluated in any case counts, and before anything else.
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return evaluates_super(node.value, method, argument)
    if not isinstance(node, ast.Call):
        return False
    if is_super_call(node, method, argument):
        return True
    if isinstance(node.func, ast.Attribute):
        return evaluates_super(node.func, method, argument)
    return bool(node.args) and evaluates_super(node.args[0], method, argument)


def is_super_call(node: ast.Call, method: str, argument: str) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr != method:
        return False
    owner = node.func.value
    handed_on = [*node.args, *(keyword.value for keyword in node.keywords)]
    return (
        isinstance(owner, ast.Call)
        and is_name(owner.func, "super")
        and len(handed_on) == 1
        and is_name(handed_on[0], argument)
    )


def is_name(node: ast.AST, name: str) -> bool:
    """Return True for a variable of a name."""
    return isinstance(node, ast.Name) and node.id == name


# Parts of names that speak of who is calling, or of what differs from call to call.
WHO = ("user", "context", "tenant", "current", "session", "auth", "language", "locale", "site")
FLAG = "swagger_fake_view"
"""What a view is marked with while it is described: no request ever finds it."""
INSTANCE = frozenset({"self", "cls"})
REQUEST = frozenset({"request", "_request"})
FRAMEWORKS = frozenset({"builtins", "django", "django_filters", "rest_framework"})


def is_left_to_frameworks(owner: type, names: Iterable[str]) -> bool:
    """Return True if no code of a project's own stands behind some members of a class."""
    return not any(True for name in names for _ in own_functions(owner, name))


@functools.cache
def is_same_for_every_request(owner: type, name: str) -> bool:
    """Return True if a member of a class, with all that it uses of it, asks for no request."""
    return all(asks_for_no_request(function) for function in used(owner, name))


@functools.cache
def is_same_without_flag(owner: type, name: str) -> bool:
    """Return True if a member of a class, with all that it uses of it, ignores `FLAG`."""
    return all(ignores_flag(function) for function in used(owner, name))


def makes_without_flag(owner: type, names: Iterable[str]) -> bool:
    """Return True if each of some members of a class does the same where `FLAG` is not set."""
    return all(is_drf_code(owner, name) or is_same_without_flag(owner, name) for name in names)


def used(owner: type, name: str) -> Iterator[Any]:
    """Yield the project's own functions behind a name, and those that they use of the class."""
    waiting, seen = [name], {name}
    while waiting:
        member = waiting.pop()
        for function in own_functions(owner, member):
            yield function
            for inner in members(function) - seen:
                seen.add(inner)
                waiting.append(inner)


def members(function: Any) -> set[str]:
    """Return the names of what a function uses of its own instance."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return {
        node.attr
        for node in ast.walk(tree or ast.Module([], []))
        if isinstance(node, ast.Attribute) and is_own(node.value)
    }


def is_own(node: ast.AST) -> bool:
    """Return True for ``self``, ``cls`` and ``super()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in INSTANCE


def own_functions(owner: type, name: str) -> Iterator[Any]:
    """Yield what a class and its bases, those of frameworks aside, define by a name."""
    for base in owner.__mro__:
        if base.__module__.partition(".")[0] in FRAMEWORKS or name not in vars(base):
            continue
        member = vars(base)[name]
        member = getattr(member, "fget", None) or getattr(member, "func", None) or member
        member = getattr(member, "__func__", member)
        if callable(member) and not inspect.isclass(member):
            yield member


def asks_for_no_request(function: Any) -> bool:
    """Return True if a function's source speaks of no caller and no request."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return tree is not None and not any(
        speaks_of_caller(node) or hands_itself_on(node) for node in ast.walk(tree)
    )


def ignores_flag(function: Any) -> bool:
    """Return True if a function's source speaks of no `FLAG`, and asks nobody else who may."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    return tree is not None and not any(
        name_of(node) == FLAG or hands_itself_on(node) for node in ast.walk(tree)
    )


def hands_itself_on(node: ast.AST) -> bool:
    """Return True if a piece of source gives the instance to a function that may ask anything."""
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
    return not is_super and any(isinstance(g, ast.Name) and g.id in INSTANCE for g in given)


def speaks_of_caller(node: ast.AST) -> bool:
    """Return True if a piece of source names a caller, or a request."""
    name = name_of(node)
    if isinstance(node, ast.Constant):
        return name in {*REQUEST, "context"}  # kwargs["context"] holds the request
    return name in REQUEST or any(word in name.lower() for word in WHO)


def name_of(node: ast.AST) -> str:
    """Return the name that a variable, an attribute or a text is; "" for anything else."""
    name = getattr(node, "attr", None) or getattr(node, "id", None)
    if isinstance(node, ast.Constant):
        name = node.value
    return name if isinstance(name, str) else ""
