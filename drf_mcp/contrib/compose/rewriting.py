"""Rewrites what the interpreter lacks, where the meaning is the same."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Collection, Iterable
from configparser import ConfigParser
from datetime import date, datetime
from pathlib import Path
from typing import Any

from drf_mcp.contrib.compose.prelude import MODULES

_FACTS = ConfigParser()
_FACTS.read(Path(__file__).with_name("interpreter.ini"), encoding="utf-8")
# What the interpreter has and lacks, by the names in that file.
INTERPRETER = {name: frozenset(names.split()) for name, names in _FACTS["interpreter"].items()}
TYPES = {each.__name__: each for each in (str, dict, list, set, tuple, int, float)}
# Methods of types that make a value, and have no value of the type.
CLASS_METHODS = frozenset({"fromkeys", "maketrans", "from_bytes", "fromhex"})
# What a value may be besides: a name that its methods have is a method.
BINDABLE = frozenset(
    name
    for kind in (*TYPES.values(), deque, date, datetime)
    for name in dir(kind)
    if name[0] != "_" and callable(getattr(kind, name))
)
# Names that modules of the interpreter lack, and their replacements.
SEQUENCE = "list | tuple | str"
NAMES = {
    ("collections", "OrderedDict"): "dict",
    ("collections.abc", "Callable"): "type(lambda: 1)",
    ("collections.abc", "Iterable"): f"{SEQUENCE} | dict | set",
    ("collections.abc", "Sequence"): SEQUENCE,
    ("dataclasses", "asdict"): "_asdict",
    ("datetime", "UTC"): "_UTC",
    ("functools", "wraps"): "_wraps",
    ("types", "SimpleNamespace"): "_SimpleNamespace",
    **{("typing", name): "_cast" for name in ("cast", "TypeVar", "NewType")},
}
# Modules whose names are read in annotations, which the interpreter does not look at.
TYPING = frozenset({"typing", "typing_extensions", "collections.abc", "__future__"})
# Functions that take a zone of the module `zoneinfo`.
ZONED = frozenset({"astimezone", "now"})
ENUMS = {"Enum": False, "StrEnum": True, "IntEnum": True}
# Methods of classes that the interpreter does not call.
IGNORED = frozenset(f"__{each}__" for each in ("lt", "le", "gt", "ge", "bool", "getattr"))
NEVER_ENDS = "This generator never ends: give it an end, or write a loop."
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

    def __init__(self, tree: ast.Module, tools: Collection[str]) -> None:
        self.tools = tools
        self.bound, self.functions, self.modules = find_bound(tree)
        kinds = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
        # Classes that have a length: nothing else of the interpreter asks for it.
        self.lengths = [
            kind.name
            for kind in kinds
            if any(isinstance(x, ast.FunctionDef) and x.name == "__len__" for x in kind.body)
        ]
        self.replaced = INTERPRETER["builtins"] | ({"len"} if self.lengths else set())
        self.fields = find_fields(tree)
        self.methods = find_decorated(tree)
        self.has_zones = "zoneinfo" in ast.unparse(tree)
        self.has_plain_enums = False
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
        rows = node.generators[0].iter
        called = find_dotted_name(rows.func) if isinstance(rows, ast.Call) else ""
        if called.rpartition(".")[2] in ("count", "cycle"):
            self.problems.append((node.lineno, NEVER_ENDS))
        self.generic_visit(node)
        return write("iter(ROWS)", ROWS=ast.ListComp(node.elt, node.generators))

    def visit_Yield(self, node: ast.Yield) -> Any:
        self.generic_visit(node)
        if not self.yielding:
            self.problems.append((node.lineno, "There is no 'yield' outside of functions."))
        return write("_found.append(VALUE)", VALUE=node.value or ast.Constant(None))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        return write("_found.extend(VALUE)", VALUE=node.value)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr in ("__name__", "__class__"):
            return write("_name(OF)" if node.attr == "__name__" else "type(OF)", OF=node.value)
        if node.attr == "value" and self.has_plain_enums and "value" not in self.fields:
            return write("_value(OF)", OF=node.value)
        if node.attr == "name" and self.has_plain_enums and "name" not in self.fields:
            self.problems.append((node.lineno, "A member has a name if its class is an Enum."))
        if replaced := self._find_replacement(node):
            return write(replaced)
        owner, decorator = self.methods.get(node.attr, ("", ""))
        if decorator == "property":
            return ast.Call(node, [], [])
        if decorator == "classmethod":
            return write(f"_bind({owner}, {owner}.{node.attr})")
        if decorator:
            return write(f"{owner}.{node.attr}")
        # The interpreter calls a method, and has it as no value.
        if self._is_method(node.value, node.attr):
            return write(f"lambda _of, *_args: _of.{node.attr}(*_args)")
        is_method = node.attr in BINDABLE and node.attr not in self.fields
        is_method = is_method and name_of(node.value) not in self.modules
        if is_method or node.attr == "__getitem__":
            call = "_of[_args[0]]" if node.attr[0] == "_" else f"_of.{node.attr}(*_args, **_more)"
            return write(f"_bind(OF, lambda _of, *_args, **_more: {call})", OF=node.value)
        return node

    def _find_replacement(self, node: ast.expr) -> str:
        """Return what replaces a member of a module, "" if nothing does."""
        if not isinstance(node, ast.Attribute):
            return ""
        module = self.modules.get(find_dotted_name(node.value), "")
        return NAMES.get((module, node.attr), "dict" if module in TYPING else "")

    def visit_Call(self, node: ast.Call) -> Any:
        function, names = node.func, {each.arg: each for each in node.keywords}
        if replaced := self._find_replacement(function):
            node.func = function = write(replaced)
        sizes = [*node.args, *(each.value for each in node.keywords)]
        is_delta = "timedelta" in (name_of(function), getattr(function, "attr", ""))
        if is_delta and not all(type(getattr(each, "value", None)) is int for each in sizes):
            node.func = function = ast.Name("_delta")
        if "return_exceptions" in names:
            text = "gather() has no return_exceptions here: catch the errors in the function."
            self.problems.append((node.lineno, text))
        if self._is_builtin(function, {"iter"}) and len(node.args) > 1:
            node.func = function = ast.Name("_iter")
        if self.has_zones and "tzinfo" in names:
            node.keywords.remove(names["tzinfo"])
            node.args = [function, names["tzinfo"].value, *node.args]
            node.func = function = ast.Name("_in_zone")
        if not isinstance(function, ast.Attribute) or function.attr in self.methods:
            self.generic_visit(node)
            if self._is_builtin(function, self.tools):
                node.args = [_write_plain(each) for each in node.args]
                for each in node.keywords:
                    each.value = _write_plain(each.value)
            return node
        name = function.attr
        function.value = self.visit(function.value)
        node.args = [self.visit(each) for each in node.args]
        node.keywords = [self.visit(each) for each in node.keywords]
        if name == "dumps" and "default" in names and node.args:
            node.keywords.remove(names["default"])
            parts = {"VALUE": node.args[0], "HOW": names["default"].value}
            node.args[0] = write("_plain(VALUE, HOW)", **parts)
        if name == "result" and "asyncio" in self.modules and not node.args:
            return function.value
        self._rewrite_method_call(node, function)
        return node

    def _rewrite_method_call(self, node: ast.Call, function: ast.Attribute) -> None:
        of, name = function.value, function.attr
        if node.args and self._is_method(of, name):
            # `str.upper(text)`
            function.value = of = node.args.pop(0)
        is_replaced = name in INTERPRETER["methods"] or (self.has_zones and name in ZONED)
        is_replaced |= name == "sort" and any(each.arg == "key" for each in node.keywords)
        if is_replaced and name not in self.functions:
            node.func, node.args = ast.Name(f"_{name}"), [of, *node.args]
        elif name == "sub" and len(node.args) > 1:
            how = node.args[1 if name_of(of) == "re" else 0]
            if isinstance(how, ast.Lambda) or name_of(how) in self.functions:
                node.args = node.args if name_of(of) == "re" else [of, *node.args]
                node.func = ast.Name("_re_sub")

    def _is_method(self, of: ast.AST, name: str) -> bool:
        if not self._is_builtin(of, TYPES) or name in CLASS_METHODS:
            return False
        return callable(getattr(TYPES[name_of(of)], name, None))

    # --- Statements ----------------------------------------------------------------------------

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        fields = {name: getattr(node, name) for name in node._fields}
        return self.visit(ast.copy_location(SYNCHRONOUS[type(node)](**fields), node))

    visit_AsyncFor = visit_AsyncWith = visit_AsyncFunctionDef

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        yields = (ast.Yield, ast.YieldFrom)
        self.yielding.append(any(isinstance(each, yields) for each in walk_own(node)))
        self.generic_visit(node)
        if self.yielding.pop():
            for loop in walk_own(node):
                ends = (ast.Break, ast.Return, ast.Raise)
                is_endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
                if is_endless and not any(isinstance(each, ends) for each in ast.walk(loop)):
                    self.problems.append((loop.lineno, NEVER_ENDS))
            node.body = [
                *write_lines("_found = []"),
                *node.body,
                *write_lines("return iter(_found)"),
            ]
        return node

    def visit_Raise(self, node: ast.Raise) -> Any:
        if isinstance(node.exc, ast.Call) and len(node.exc.args) > 1:
            self.problems.append((node.lineno, "An exception has one text here: join them."))
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if self.yielding and self.yielding[-1]:
            return write_lines("return iter(_found)")
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        # The interpreter adds the expression to the message.
        self.generic_visit(node)
        message = node.msg or ast.Constant("")
        text = "if not TEST:\n    raise AssertionError(MESSAGE)"
        return write_lines(text, TEST=node.test, MESSAGE=message)

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
            elif alias.name not in {*TYPING, *MODULES, "enum", "types"}:
                made.append(ast.Import([alias]))
        return made or ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        made: list[ast.stmt] = []
        module = node.module or ""
        for alias in node.names if module not in ("enum", "__future__") else ():
            value = NAMES.get((module, alias.name))
            if module in MODULES:
                value = f"_{module}.{alias.name}"
            elif value is None and module in TYPING:
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
            self.has_plain_enums |= ENUMS[base]
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
                if self.methods.get(each.name, ("",))[0] == node.name:
                    each.decorator_list = []
                    continue
                text = f"{each.name} cannot be decorated so: write a method, or a function."
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


def _write_plain(value: ast.expr) -> ast.expr:
    # A tool would get the text of `range(3)`.
    is_plain = isinstance(value, (ast.Constant, ast.Name, ast.Starred))
    return value if is_plain else write("_end(VALUE)", VALUE=value)


def name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def find_dotted_name(node: ast.AST) -> str:
    """Return a name, or a name with one attribute; "" for anything else."""
    of = name_of(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{of}.{node.attr}" if isinstance(node, ast.Attribute) and of else name_of(node)


def walk_own(node: Any) -> Iterable[Any]:
    """Return the nodes of a function, without the nodes of functions in it."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from walk_own(each)


def find_bound(tree: ast.AST) -> tuple[set[str], set[str], dict[str, str]]:
    """Return the names that a program binds anywhere, its functions, and its modules by names."""
    bound: set[str] = set()
    functions: set[str] = set()
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            functions.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [(each.asname or each.name, each.name) for each in node.names]
            bound |= {name.partition(".")[0] for name, _module in names}
            modules |= {
                part: of if part == name else part
                for name, of in (names if isinstance(node, ast.Import) else ())
                for part in (name, name.partition(".")[0])
            }
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        bound |= {each.name for each in getattr(node, "type_params", ())}
    return bound | functions, functions, modules


def find_decorated(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """Return methods that one class of a program decorates: the class and the decorator."""
    found: dict[str, tuple[str, str]] = {}
    several: set[str] = set()
    for kind in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
        for node in (each for each in kind.body if isinstance(each, ast.FunctionDef)):
            several |= {node.name} & found.keys()
            decorators = [name_of(each) for each in node.decorator_list]
            is_known = decorators in (["property"], ["staticmethod"], ["classmethod"])
            found[node.name] = (kind.name, decorators[0] if is_known else "")
    plain = several | find_fields(tree)
    return {name: each for name, each in found.items() if each[1] and name not in plain}


def find_fields(tree: ast.AST) -> set[str]:
    """Return the attributes that objects of a program have besides methods."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                targets = getattr(part, "targets", [getattr(part, "target", part)])
                found.update(map(name_of, targets))
        elif isinstance(node, ast.Call) and "namedtuple" in find_dotted_name(node.func):
            found.update(re.findall(r"\w+", ast.unparse(node)))
        elif isinstance(node, ast.Call) and "SimpleNamespace" in find_dotted_name(node.func):
            found |= BINDABLE
    return found
