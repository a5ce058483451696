"""The trees of functions, and the members of classes: who wrote each, and the names in its code."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, TypeVar

from django.conf import settings
from django.forms import BaseForm
from django.utils.functional import cached_property
from rest_framework.serializers import BaseSerializer

Function = TypeVar("Function", bound=Callable[..., Any])
REQUEST = frozenset({"request", "_request", "req"})
AnyFunctionDef = ast.FunctionDef | ast.AsyncFunctionDef
MISSING = object()


def cached(function: Function) -> Function:
    """Keep the results of a function of classes, which mypy does not take for hashable."""
    return functools.lru_cache(maxsize=16384)(function)  # type: ignore[return-value]


class FunctionSource:
    # tree: None for a function without readable source.

    def __init__(self, function: Any) -> None:
        self.function = function

    @cached_property
    def tree(self) -> AnyFunctionDef | None:
        function = self.function
        return parse_function(function.__code__) if inspect.isfunction(function) else None

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return () if self.tree is None else tuple(ast.walk(self.tree))

    def find_value(self, node: ast.AST) -> Any:
        # Only names from outside the function have a value that is known without running it.
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            found = self.find_outer(node.id)
            return None if found is MISSING else found
        if isinstance(node, ast.Attribute):
            holder = self.find_value(node.value)
            get: Any = getattr if holder is settings else inspect.getattr_static
            return None if holder is None else get(holder, node.attr, None)
        return None

    def find_outer(self, name: str) -> Any:
        """Return the value of a name from outside the function, `MISSING` for a local name."""
        function, code = self.function, self.function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:  # not assigned yet
                return MISSING
        if name in code.co_varnames or name in code.co_cellvars:
            return MISSING
        return function.__globals__.get(name, getattr(builtins, name, MISSING))


@functools.lru_cache(maxsize=4096)
def parse_function(code: CodeType) -> AnyFunctionDef | None:
    # `inspect.getsource` would look through every module of the process for the file's.
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    except SyntaxError:
        return None
    statement = tree.body[0] if tree.body else None
    return statement if isinstance(statement, AnyFunctionDef) else None


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def refuses_call(statement: ast.stmt) -> bool:
    """Return whether a statement raises an exception, or returns a response with an error."""
    if isinstance(statement, ast.Raise):
        return True
    answer = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(answer, ast.Call):
        return False
    values = [k.value for k in answer.keywords if k.arg in ("status", "status_code")]
    status = next(iter([*values, *answer.args[1:2]]), None)
    if isinstance(status, ast.Constant) and isinstance(status.value, int):
        return status.value >= 400
    name = getattr(status, "attr", getattr(status, "id", ""))
    return name.startswith(("HTTP_4", "HTTP_5"))


# The names that packages for asynchronous views give to REST framework's methods.
SYNCHRONOUS_NAMES = {
    "alist": "list",
    "aretrieve": "retrieve",
    "acreate": "create",
    "aupdate": "update",
    "partial_aupdate": "partial_update",
    "adestroy": "destroy",
    "aget_object": "get_object",
    "aget_queryset": "get_queryset",
    "afilter_queryset": "filter_queryset",
    "apaginate_queryset": "paginate_queryset",
    "get_apaginated_response": "get_paginated_response",
}


# Packages whose code is not read: which query parameters it reads is known.
FRAMEWORKS = frozenset(
    {"builtins", "django", "django_filters", "drf_spectacular", "logging", "rest_framework"}
)
# What hands on its arguments is not harmless.
HARMLESS = sys.stdlib_module_names - {"functools", "asyncio", "concurrent", "threading"}
HARMLESS |= {"drf_mcp"}
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})
SETTERS = frozenset({"STORE_ATTR", "DELETE_ATTR"})
CALLS = frozenset({"PRECALL", "CALL"})


def is_framework_code(owner: Any) -> bool:
    return find_root(owner) in FRAMEWORKS


def find_root(target: Any) -> str:
    return str(getattr(target, "__module__", "")).partition(".")[0]


def is_harmless(target: Any) -> bool:
    return is_framework_code(target) or find_root(target) in HARMLESS


def is_schema(kind: Any) -> bool:
    """Return whether a class reads what an instance is given: serializers, forms, filter sets."""
    return issubclass(kind, (BaseSerializer, BaseForm)) or hasattr(kind, "base_filters")


def is_drf_code(owner: type, *names: str) -> bool:
    # Decorators that keep the wrapped function's __module__, as functools.wraps does, count as what
    # they wrap: caching or logging a method does not change what it returns.
    return all(find_package(owner, name) == "rest_framework" for name in names)


@cached
def find_package(owner: type, name: str) -> str:
    """Return the package whose code a member of a class runs, "" for no code."""
    attribute = inspect.getattr_static(owner, name, None)
    module = getattr(unwrap_member(attribute), "__module__", None) or ""
    return str(module).partition(".")[0]


def unwrap_member(attribute: Any) -> Any:
    if isinstance(attribute, property):
        return attribute.fget
    if isinstance(attribute, (cached_property, functools.cached_property)):
        return attribute.func
    return getattr(attribute, "__func__", attribute)


def find_member(owner: type, name: str, after: type | None = None) -> Any:
    """Return a member as its class has it, None for no member. `getattr` would call descriptors.

    Args:
        after: the base after which to look, as ``super()`` does.
    """
    mro = owner.__mro__
    start = mro.index(after) + 1 if after in mro else 0
    return next((vars(base)[name] for base in mro[start:] if name in vars(base)), None)


def unwrap_function(function: Any) -> Iterator[tuple[Any, bool]]:
    """Yield a function and those inside its decorators, each with whether it wraps another."""
    while inspect.isfunction(function):
        wrapped = getattr(function, "__wrapped__", None)
        if function.__module__ == "rest_framework.decorators":  # @api_view
            wrapped = inspect.getclosurevars(function).nonlocals.get("func")
        yield function, wrapped is not None
        function = wrapped


def find_synchronous_name(name: str) -> str:
    return SYNCHRONOUS_NAMES.get(name, name)


@functools.lru_cache(maxsize=4096)
def find_members_used(code: CodeType) -> tuple[str, ...]:
    """Return the members of ``self`` that code uses, and of ``super()`` the member that it is."""
    # Bytecode is read ten times as fast as source, and frameworks have much code. The order of the
    # code is the same in each process.
    found, before = dict[str, None](), ""
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        is_super = name == code.co_name and "__class__" in code.co_freevars
        if instruction.opname in ATTRIBUTES and (before in ("self", "super") or is_super):
            found[name] = None
        # Before Python 3.12, ``super()`` is called. Two variables may be loaded at once.
        if instruction.opname not in CALLS:
            before = name[-1] if isinstance(name, tuple) and name else name
    for inner in code.co_consts:
        found |= dict.fromkeys(find_members_used(inner) if isinstance(inner, CodeType) else ())
    return tuple(found)


def list_functions(owner: type) -> Iterator[Any]:
    """Yield the project's functions of a class and its bases."""
    for base in owner.__mro__:
        if not is_framework_code(base):
            members = map(unwrap_member, list(vars(base).values()))
            yield from filter(inspect.isfunction, members)


@functools.lru_cache(maxsize=4096)
def find_flags(owner: type) -> frozenset[str]:
    """Return the names that code of a class reads, and sets nowhere but in ``__init__``."""
    read, changed = set[str](), set[str]()
    for function in list_functions(owner):
        read |= read_code_names(function.__code__)[0]
        if function.__name__ != "__init__":
            changed |= find_attributes_set(function.__code__)
    return frozenset(read - changed)


@functools.lru_cache(maxsize=4096)
def find_attributes_set(code: CodeType) -> frozenset[str]:
    found = {each.argval for each in dis.get_instructions(code) if each.opname in SETTERS}
    inner = (find_attributes_set(each) for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(found.union(*inner))


# Parts of the names and keys of what belongs to the request, the view or the caller.
AROUND = ("context", "request", "view", "action", "user", "tenant", "session", "auth")
# The names of what a serializer is given for one call.
GIVEN = frozenset({"data", "initial_data", "get_initial", "instance"})


def find_own(owner: type, name: str) -> Iterator[Any]:
    """Yield the project's functions behind a member of a class, the nearest class first."""
    for base in owner.__mro__:
        if name not in vars(base) or is_framework_code(base):
            continue
        function = unwrap_member(vars(base)[name])
        is_own = callable(function) and not is_framework_code(function)
        if is_own and not inspect.isclass(function):
            yield function


def follow_own(owner: type, names: Iterable[str]) -> Iterator[Any]:
    """Yield the project's functions behind members, and behind the members that these use."""
    waiting = list(names)
    seen = set(waiting)
    while waiting:
        for function in find_own(owner, waiting.pop()):
            yield function
            if inspect.isfunction(function):
                used = {*find_members_used(function.__code__)} - seen
                waiting += used
                seen |= used


@functools.cache
def depends_on_request(owner: type, names: tuple[str, ...]) -> bool:
    """Return whether the project's code behind members has names such as ``request``."""
    for function in follow_own(owner, names):
        if not inspect.isfunction(function):
            return True
        mentioned = find_mentioned(function, keys=True)
        joined = " ".join(mentioned).lower()
        if not GIVEN.isdisjoint(mentioned) or any(part in joined for part in AROUND):
            return True
    return False


def find_mentioned(function: Any, *, keys: bool = False) -> frozenset[str]:
    """Return the names, and the keys if asked for, in a function and in the one it decorates."""
    found = [read_code_names(layer.__code__) for layer, _ in unwrap_function(function)]
    return frozenset().union(*(names | texts if keys else names for names, texts in found))


@functools.lru_cache(maxsize=4096)
def read_code_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    names, keys = {*code.co_names, *code.co_varnames, *code.co_freevars}, set[str]()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = read_code_names(constant)
            names |= inner[0]
            keys |= inner[1]
        texts = constant if isinstance(constant, (tuple, frozenset)) else (constant,)
        # No sentence, and no name of an inner function.
        keys |= {t for t in texts if isinstance(t, str) and " " not in t and "<" not in t}
    return frozenset(names), frozenset(keys)


OPERANDS = ("op1_class", "op2_class", "op1", "op2")


def find_leaves(every: Iterable[Any]) -> Iterator[Any]:
    """Yield permissions, or their classes, without the ``&``, ``|`` and ``~`` between them."""
    for each in every:
        operands = find_operands(each)
        yield from find_leaves(operands) if operands else [each]


def find_operands(permission: Any) -> list[Any]:
    """Return both operands of a permission or its class."""
    return [getattr(permission, name) for name in OPERANDS if hasattr(permission, name)]
