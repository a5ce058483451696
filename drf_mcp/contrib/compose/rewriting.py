"""Rewrites what the interpreter lacks, where the meaning is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from drf_mcp.contrib.compose.prelude import MODULES, find_loaded_names

# Builtins whose parts call tools, round as Python does, or give iterators.
BUILTINS = {"map", "filter", "sorted", "max", "min", "round"}
# They give lists where nothing is asked for the next row.
ITERATORS = {"zip", "enumerate", "reversed"}
# Methods that the interpreter lacks.
METHODS = {"isocalendar", "toordinal", "utcnow", "fromtimestamp", "is_integer"}
TYPES = {each.__name__: each for each in (str, dict, list, set, tuple, int, float)}
# Methods of types that make a value, and have no value of the type.
CLASS_METHODS = frozenset({"fromkeys", "maketrans", "from_bytes", "fromhex"})
# Names that modules of the interpreter lack, and their replacements.
NAMES = {
    ("collections", "OrderedDict"): "dict",
    ("datetime", "UTC"): "_UTC",
    ("functools", "wraps"): "_wraps",
}
# Modules whose names are read in annotations, which the interpreter does not look at.
TYPING = frozenset({"typing", "typing_extensions", "collections.abc", "__future__"})
ENUMS = {"Enum": False, "StrEnum": True, "IntEnum": True}
# Methods of classes that the interpreter does not call.
IGNORED = frozenset(f"__{each}__" for each in ("lt", "le", "gt", "ge", "len", "getattr"))
SYNCHRONOUS = {
    ast.AsyncFunctionDef: ast.FunctionDef,
    ast.AsyncFor: ast.For,
    ast.AsyncWith: ast.With,
}


class Rewriter(ast.NodeTransformer):
    """Rewrites a program.

    Attributes:
        problems: lines with what stays unlike Python.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.bound, self.functions, self.modules = find_bound(tree)
        self.replaced = BUILTINS | (ITERATORS if "next" in find_loaded_names(tree) else set())
        calls = (each.func for each in ast.walk(tree) if isinstance(each, ast.Call))
        self.called = {each.id for each in calls if isinstance(each, ast.Name)}
        # Of each function around a node: whether it yields.
        self.yielding: list[bool] = []
        self.problems: list[tuple[int, str]] = []

    def visit(self, node: ast.AST) -> Any:
        made = super().visit(node)
        for each in made if isinstance(made, list) else [made]:
            if each is not node and hasattr(node, "lineno"):
                ast.fix_missing_locations(ast.copy_location(each, node))
        return made

    def _is_builtin(self, node: ast.AST, names: Iterable[str]) -> bool:
        return isinstance(node, ast.Name) and node.id in names and node.id not in self.bound

    # --- Expressions ---------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(f"_{node.id}") if self._is_builtin(node, self.replaced) else node

    def visit_Await(self, node: ast.Await) -> Any:
        return self.visit(node.value)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.is_async = 0
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        self.generic_visit(node)
        return write("iter(ROWS)", ROWS=ast.ListComp(node.elt, node.generators))

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.generic_visit(node)
        return write("_found.append(VALUE)", VALUE=node.value or ast.Constant(None))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        return write("_found.extend(VALUE)", VALUE=node.value)

    def visit_Call(self, node: ast.Call) -> Any:
        function, names = node.func, {each.arg: each for each in node.keywords}
        if "key" in names:
            names["key"].value = self._write_callback(names["key"].value)
        name = getattr(function, "attr", getattr(function, "id", ""))
        if node.args and name in ("map", "filter", "reduce"):
            node.args[0] = self._write_callback(node.args[0])
        if self._is_builtin(function, {"iter"}) and len(node.args) > 1:
            node.func = ast.Name("_iter")
        self.generic_visit(node)
        if name == "dumps" and "default" in names and node.args:
            node.keywords.remove(names["default"])
            node.args[0] = write(
                "_plain(VALUE, HOW)", VALUE=node.args[0], HOW=names["default"].value
            )
        if isinstance(node.func, ast.Attribute):
            self._rewrite_method_call(node, node.func)
        return node

    def _rewrite_method_call(self, node: ast.Call, function: ast.Attribute) -> None:
        of, name = function.value, function.attr
        if node.args and self._is_method(of, name):
            # `str.upper(text)`
            function.value = of = node.args.pop(0)
        is_sort = name == "sort" and any(each.arg == "key" for each in node.keywords)
        if is_sort or (name in METHODS and name not in self.functions):
            node.func, node.args = ast.Name(f"_{name}"), [of, *node.args]
        elif name == "sub" and name_of(of) == "re" and len(node.args) > 2:
            how = node.args[1]
            if isinstance(how, ast.Lambda) or name_of(how) in self.functions:
                node.func = ast.Name("_re_sub")

    def _is_method(self, of: ast.AST, name: str) -> bool:
        if not self._is_builtin(of, TYPES) or name in CLASS_METHODS:
            return False
        return callable(getattr(TYPES[name_of(of)], name, None))

    def _write_callback(self, node: ast.expr) -> Any:
        """Return a method in a lambda, as which the interpreter can call it."""
        if not isinstance(node, ast.Attribute) or name_of(node.value) in self.modules:
            return node
        if self._is_method(node.value, node.attr):
            return write(f"lambda _of, *_args: _of.{node.attr}(*_args)")
        return write("lambda *_args: CALLED(*_args)", CALLED=node)

    # --- Statements ----------------------------------------------------------------------------

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        fields = {name: getattr(node, name) for name in node._fields}
        return self.visit(ast.copy_location(SYNCHRONOUS[type(node)](**fields), node))

    visit_AsyncFor = visit_AsyncWith = visit_AsyncFunctionDef

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        yields = (ast.Yield, ast.YieldFrom)
        self.yielding.append(any(isinstance(each, yields) for each in _walk_own(node)))
        self.generic_visit(node)
        if self.yielding.pop():
            for loop in _walk_own(node):
                ends = (ast.Break, ast.Return, ast.Raise)
                is_endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
                if is_endless and not any(isinstance(each, ends) for each in ast.walk(loop)):
                    self.problems.append(
                        (loop.lineno, "This generator never ends: give it an end.")
                    )
            node.body = [
                *write_lines("_found = []"),
                *node.body,
                *write_lines("return iter(_found)"),
            ]
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if self.yielding and self.yielding[-1]:
            return write_lines("return iter(_found)")
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.called:
            # `get = counts.get`
            node.value = self._write_callback(node.value)
        return self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                text = "`del` of an attribute does not work: set it to None."
                self.problems.append((node.lineno, text))
            elif not isinstance(target, ast.Subscript):
                made += write_lines("TARGET = None", TARGET=target)
            elif isinstance(target.slice, ast.Slice):
                made += write_lines("TARGET = []", TARGET=target)
            else:
                made += write_lines("OF.pop(KEY)", OF=target.value, KEY=target.slice)
        return made

    def visit_Import(self, node: ast.Import) -> Any:
        made: list[ast.stmt] = []
        for alias in node.names:
            if alias.name in MODULES:
                made += write_lines(f"{alias.asname or alias.name} = _{alias.name}")
            elif alias.name not in TYPING | {"enum"}:
                made.append(ast.Import([alias]))
        return made or ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        made: list[ast.stmt] = []
        module = node.module or ""
        for alias in node.names if module not in ("enum", "__future__") else ():
            value = NAMES.get((module, alias.name))
            if module in MODULES:
                value = f"_{module}.{alias.name}"
            elif module in TYPING:
                # Also `Row = dict[str, Any]` runs then.
                value = "dict"
            if value is None or alias.name == "*":
                made.append(ast.ImportFrom(module, [alias], 0))
            else:
                made += write_lines(f"{alias.asname or alias.name} = {value}")
        return made or ast.Pass()

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        base = ast.unparse(node.bases[0]).rpartition(".")[2] if len(node.bases) == 1 else ""
        if base in ENUMS:
            return self._write_enum(node, ENUMS[base])
        if base == "TypedDict":
            return write_lines("NAME = dict", NAME=ast.Name(node.name))
        if base == "NamedTuple":
            members = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            names = ast.List([ast.Constant(ast.unparse(each.target)) for each in members])
            defaults = ast.List([each.value for each in members if each.value is not None])
            parts = {"NAME": ast.Name(node.name), "TEXT": ast.Constant(node.name)}
            text = "NAME = _namedtuple(TEXT, NAMES, defaults=DEFAULTS)"
            return write_lines(text, **parts, NAMES=names, DEFAULTS=defaults)
        node.bases = [each for each in node.bases if ast.unparse(each) != "object"]
        if node.bases or node.keywords:
            text = f"{node.name} cannot inherit: write functions, and raise ValueError or KeyError."
            self.problems.append((node.lineno, text))
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name in IGNORED:
                text = f"Nothing calls {each.name} here: compare values of Python's own types."
                self.problems.append((each.lineno, text))
            elif isinstance(each, ast.FunctionDef) and each.decorator_list:
                text = "Methods cannot be decorated: write a method, or a function."
                self.problems.append((each.lineno, text))
        return self.generic_visit(node)

    def _write_enum(self, node: ast.ClassDef, plain: bool) -> Any:
        members: dict[str, ast.expr] = {}
        for each in node.body:
            if isinstance(each, ast.Assign):
                is_auto = isinstance(each.value, ast.Call)
                value = ast.Constant(len(members) + 1) if is_auto else each.value
                members[ast.unparse(each.targets[0])] = value
            elif not isinstance(each, (ast.Expr, ast.Pass)):
                self.problems.append((each.lineno, "An enum has only members here."))
        values = ast.Dict([*map(ast.Constant, members)], [*members.values()])
        name = ast.Name(node.name)
        return write_lines(f"NAME = _Enumeration(VALUES, {plain})", NAME=name, VALUES=values)


class Filler(ast.NodeTransformer):
    """Puts nodes in place of names."""

    def __init__(self, parts: dict[str, ast.AST]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.parts.get(node.id, node)


def write_lines(text: str, **parts: ast.AST) -> list[ast.stmt]:
    """Return the statements of a text, with nodes in place of some names, and without positions."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in getattr(node, "_attributes", ()):
            vars(node).pop(name, None)
    return list(Filler(parts).visit(tree).body)


def write(text: str, **parts: ast.AST) -> Any:
    """Return the expression of a text; see `write_lines`."""
    (statement,) = write_lines(text, **parts)
    assert isinstance(statement, ast.Expr)
    return statement.value


def name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _walk_own(node: Any) -> Iterable[Any]:
    """Return the nodes of a function, without the nodes of functions in it."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _walk_own(each)


def find_bound(tree: ast.AST) -> tuple[set[str], set[str], set[str]]:
    """Return the names that a program binds anywhere, its functions and its modules."""
    bound: set[str] = set()
    functions: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            functions.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            modules |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
    return bound | functions | modules, functions, modules
