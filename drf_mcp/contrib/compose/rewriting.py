"""Rewrites what the interpreter lacks, where the meaning is the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from drf_mcp.contrib.compose.prelude import MODULES, find_loaded_names

# Builtins whose parts call tools, and give iterators as Python's do.
CALLBACKS = {"map": "_map", "filter": "_filter"}
WITH_KEY = {"sorted": "_sorted", "max": "_max", "min": "_min"}
# Rewritten wherever they are called.
CALLED = {"round": "_round"}
# Names of modules of the interpreter that it lacks, and what stands for them.
NAMES = {("collections", "OrderedDict"): "dict", ("functools", "wraps"): "_wraps"}
# Methods of classes that the interpreter does not call.
IGNORED = frozenset(f"__{each}__" for each in ("lt", "le", "gt", "ge", "len", "getattr"))
ITERATORS = {"zip": "_zip", "enumerate": "_enumerate", "reversed": "_reversed"}
# Methods that the interpreter lacks.
LACKING_METHODS = ("isocalendar", "is_integer", "utcnow", "fromtimestamp", "format_map")
METHODS = {name: f"_{name}" for name in LACKING_METHODS}
TYPES = {"str": str, "dict": dict, "list": list, "set": set, "tuple": tuple, "int": int}
# Methods of types that make a value, and have no value of the type.
CLASS_METHODS = frozenset({"fromkeys", "maketrans", "from_bytes"})
# Modules whose names are only read in annotations, which are left out.
TYPING = frozenset({"typing", "collections.abc", "__future__"})
ENUMS = {"Enum": False, "StrEnum": True, "IntEnum": True}


class Rewriter(ast.NodeTransformer):
    """Rewrites a program.

    Attributes:
        bound: the names that the program binds itself.
        problems: what stays unlike Python, with its node.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.bound = find_bound(tree)
        self.names = find_loaded_names(tree)
        calls = (each.func for each in ast.walk(tree) if isinstance(each, ast.Call))
        self.called = {each.id for each in calls if isinstance(each, ast.Name)}
        self.problems: list[tuple[ast.AST, str]] = []

    def is_builtin(self, node: ast.AST, names: Any) -> bool:
        return isinstance(node, ast.Name) and node.id in names and node.id not in self.bound

    # --- Expressions ---------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        parts = {**CALLBACKS, **(ITERATORS if "next" in self.names else {})}
        return ast.Name(parts[node.id], node.ctx) if self.is_builtin(node, parts) else node

    def visit_Await(self, node: ast.Await) -> Any:
        return self.visit(node.value)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.is_async = 0
        return self.visit_children(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.visit_children(node)
        return make_call("iter", ast.ListComp(node.elt, node.generators))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        names = {each.arg for each in node.keywords}
        callbacks = [each for each in node.keywords if each.arg == "key"]
        for keyword in callbacks:
            keyword.value = self.write_callback(keyword.value)
        if self.is_builtin(function, {*CALLBACKS, "reduce"}) and node.args:
            node.args[0] = self.write_callback(node.args[0])
        if callbacks and self.is_builtin(function, WITH_KEY):
            node.func = ast.Name(WITH_KEY[ast.unparse(function)], ast.Load())
        if self.is_builtin(function, CALLED):
            node.func = ast.Name(CALLED[ast.unparse(function)], ast.Load())
        lone = len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)
        if lone and not self.is_builtin(function, {"next"}):
            # As fast as before: what is called reads all of it.
            node.args[0] = ast.ListComp(node.args[0].elt, node.args[0].generators)  # type: ignore[attr-defined]
        self.visit_children(node)
        if isinstance(node.func, ast.Attribute):
            return self.write_method_call(node, node.func, names)
        if self.is_builtin(function, {"dumps"}) is False and names >= {"default"}:
            return self.write_dumps(node)
        return node

    def write_method_call(self, node: ast.Call, function: ast.Attribute, names: Any) -> ast.expr:
        name, of = function.attr, function.value
        if name == "sort" and "key" in names:
            return make_call("_sort", of, *node.args, keywords=node.keywords)
        if name in METHODS:
            return make_call(METHODS[name], of, *node.args, keywords=node.keywords)
        if name == "dumps" and "default" in names:
            return self.write_dumps(node)
        is_function = len(node.args) > 1 and isinstance(node.args[1], (ast.Lambda, ast.Name))
        if name == "sub" and ast.unparse(of) == "re" and is_function:
            is_lambda = isinstance(node.args[1], ast.Lambda)
            if is_lambda or ast.unparse(node.args[1]) in self.bound.functions:
                return make_call("_re_sub", *node.args, keywords=node.keywords)
        if self.is_builtin(of, TYPES) and node.args and self.is_method(of, name):
            # `str.upper(text)`
            return ast.Call(
                ast.Attribute(node.args[0], name, ast.Load()), node.args[1:], node.keywords
            )
        return node

    def write_dumps(self, node: ast.Call) -> ast.expr:
        default = next((each for each in node.keywords if each.arg == "default"), None)
        if default is not None and node.args and "dumps" in ast.unparse(node.func):
            node.keywords.remove(default)
            node.args[0] = make_call("_plain", node.args[0], default.value)
        return node

    def is_method(self, of: ast.AST, name: str) -> bool:
        return name not in CLASS_METHODS and callable(getattr(TYPES[ast.unparse(of)], name, None))

    def write_callback(self, node: ast.expr) -> ast.expr:
        """Return a method in a lambda, as which the interpreter can call it."""
        if not isinstance(node, ast.Attribute) or self.names_module(node.value):
            return node
        first = ast.Starred(ast.Name("_args", ast.Load()), ast.Load())
        called: ast.expr = node
        if self.is_builtin(node.value, TYPES) and self.is_method(node.value, node.attr):
            called = ast.Attribute(ast.Name("_of", ast.Load()), node.attr, ast.Load())
        text = "_of, *_args" if called is not node else "*_args"
        made = ast.parse(f"lambda {text}: 0", mode="eval").body
        assert isinstance(made, ast.Lambda)
        made.body = ast.Call(called, [first], [])
        return made

    def names_module(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.bound.modules

    # --- Statements ----------------------------------------------------------------------------

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self.visit_FunctionDef(make_like(node, ast.FunctionDef))

    def visit_AsyncFor(self, node: ast.AsyncFor) -> Any:
        return self.visit(make_like(node, ast.For))

    def visit_AsyncWith(self, node: ast.AsyncWith) -> Any:
        return self.visit(make_like(node, ast.With))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self.visit_children(node)
        yields = [each for each in walk_own(node) if isinstance(each, (ast.Yield, ast.YieldFrom))]
        if yields:
            Collector(self.problems).collect(node, yields)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.called:
            # `get = counts.get`
            node.value = self.write_callback(node.value)
        return self.visit_children(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.visit_children(node)
        if node.value is None:
            return ast.Pass()
        return ast.Assign([node.target], node.value)

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.visit_children(node)
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
                pop = ast.Attribute(target.value, "pop", ast.Load())
                made.append(ast.Expr(ast.Call(pop, [target.slice], [])))
            elif isinstance(target, ast.Subscript):
                target.ctx = ast.Store()
                made.append(ast.Assign([target], ast.List([], ast.Load())))
            elif isinstance(target, ast.Name):
                made.append(ast.Assign([ast.Name(target.id, ast.Store())], ast.Constant(None)))
            else:
                self.problems.append((node, "`del` of an attribute does not work: set it to None."))
        return made or ast.Pass()

    def visit_Import(self, node: ast.Import) -> Any:
        made: list[ast.stmt] = []
        for alias in node.names:
            if alias.name in MODULES:
                target = ast.Name(alias.asname or alias.name, ast.Store())
                made.append(ast.Assign([target], ast.Name(MODULES[alias.name], ast.Load())))
            elif alias.name not in TYPING | {"enum"}:
                made.append(ast.Import([alias]))
        return made or ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module in TYPING or node.module == "enum":
            return ast.Pass()
        made: list[ast.stmt] = []
        for alias in node.names:
            value: ast.expr
            if part := MODULES.get(node.module or ""):
                value = ast.Attribute(ast.Name(part, ast.Load()), alias.name, ast.Load())
            elif name := NAMES.get((node.module or "", alias.name)):
                value = ast.Name(name, ast.Load())
            else:
                made.append(ast.ImportFrom(node.module, [alias], 0))
                continue
            made.append(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], value))
        return made

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        base = ast.unparse(node.bases[0]).rpartition(".")[2] if len(node.bases) == 1 else ""
        if base in ENUMS:
            return self.write_enum(node, ENUMS[base])
        if base == "NamedTuple":
            fields = [ast.unparse(e.target) for e in node.body if isinstance(e, ast.AnnAssign)]
            return ast.parse(
                "from collections import namedtuple as _namedtuple\n"
                f"{node.name} = _namedtuple({node.name!r}, {fields!r})"
            ).body
        if base == "object":
            node.bases = []
        if node.bases or node.keywords:
            text = f"{node.name} cannot inherit: write functions, and raise ValueError or KeyError."
            self.problems.append((node, text))
        # The fields of a dataclass stay annotated.
        node.body = [
            each if isinstance(each, ast.AnnAssign) else self.visit(each) for each in node.body
        ]
        for each in node.body:
            if isinstance(each, ast.AnnAssign):
                each.annotation = ast.Name("int", ast.Load())
            elif isinstance(each, ast.FunctionDef) and each.name in IGNORED:
                text = (
                    f"The interpreter does not call {each.name}: compare values of its own types."
                )
                self.problems.append((each, text))
            elif isinstance(each, ast.FunctionDef) and each.decorator_list:
                text = "Methods cannot be decorated: write a method, or a function."
                self.problems.append((each, text))
        return node

    def write_enum(self, node: ast.ClassDef, plain: bool) -> list[ast.stmt]:
        pairs, number = [], 0
        for each in node.body:
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
                number += 1
                is_auto = isinstance(each.value, ast.Call)
                value = ast.Constant(number) if is_auto else each.value
                pairs.append(ast.Tuple([ast.Constant(each.targets[0].id), value], ast.Load()))
            elif not isinstance(each, (ast.Expr, ast.Pass)):
                self.problems.append((each, "An enum has only members here."))
        every = ast.List(list(pairs), ast.Load())
        made = make_call("_Enumeration", every, ast.Constant(plain))
        body: list[ast.stmt] = [ast.Assign([ast.Name(node.name, ast.Store())], made)]
        for place, pair in enumerate(pairs):
            member = f"{node.name}.{ast.literal_eval(pair.elts[0])}"
            body += ast.parse(f"{member} = {node.name}.members[{place}]").body
        return body

    # --- Both ----------------------------------------------------------------------------------

    def visit_children(self, node: Any) -> Any:
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> Any:
        made = super().visit(node)
        for each in made if isinstance(made, list) else [made]:
            if each is not node and isinstance(node, (ast.stmt, ast.expr)):
                for inner in ast.walk(each):
                    if isinstance(inner, (ast.stmt, ast.expr)) and not hasattr(inner, "lineno"):
                        ast.copy_location(inner, node)
        return made


class Collector(ast.NodeTransformer):
    """Lets a function collect what it yields, and return all of it."""

    def __init__(self, problems: list[tuple[ast.AST, str]]) -> None:
        self.problems = problems

    def collect(self, node: ast.FunctionDef, yields: Sequence[ast.AST]) -> None:
        statements = [each.value for each in walk_own(node) if isinstance(each, ast.Expr)]
        if any(each not in statements for each in yields):
            self.problems.append((node, "A generator cannot be sent values: `yield` alone works."))
        for loop in walk_own(node):
            ends = (ast.Break, ast.Return, ast.Raise)
            endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
            if endless and not any(isinstance(each, ends) for each in ast.walk(loop)):
                self.problems.append((loop, "This generator never ends: give it an end."))
        start = ast.parse("_found = []").body
        body = [self.visit(each) for each in node.body]
        node.body = [*start, *body, self.make_return()]
        for each in ast.walk(node):
            if isinstance(each, (ast.stmt, ast.expr)) and each.lineno < node.lineno:
                ast.copy_location(each, node)

    def make_return(self) -> ast.stmt:
        return ast.parse("return iter(_found)").body[0]

    def visit_Expr(self, node: ast.Expr) -> Any:
        if not isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            return node
        adds = "extend" if isinstance(node.value, ast.YieldFrom) else "append"
        made = ast.parse(f"_found.{adds}(None)").body[0]
        assert isinstance(made, ast.Expr)
        assert isinstance(made.value, ast.Call)
        made.value.args = [node.value.value or ast.Constant(None)]
        return relocate(made, node)

    def visit_Return(self, node: ast.Return) -> Any:
        return relocate(self.make_return(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


def relocate(made: ast.AST, node: ast.stmt) -> ast.AST:
    for each in ast.walk(made):
        if isinstance(each, (ast.stmt, ast.expr)):
            ast.copy_location(each, node)
    return made


def make_call(name: str, *args: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), list(keywords))


def make_like(node: Any, kind: type[Any]) -> Any:
    """Return a statement without `async`."""
    fields = {name: getattr(node, name) for name in node._fields if name in kind._fields}
    return ast.copy_location(kind(**fields), node)


def walk_own(node: ast.FunctionDef) -> list[ast.AST]:
    """Return the nodes of a function, without those of functions in it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        found.append(each)
        if not isinstance(each, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(each)
    return found


class BoundNames(set[str]):
    """The names that a program binds anywhere; of them those of functions and of modules."""

    functions: set[str]
    modules: set[str]


def find_bound(tree: ast.AST) -> BoundNames:
    bound = BoundNames()
    bound.functions, bound.modules = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
            bound.functions.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            bound |= names
            bound.modules |= names
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            bound |= set(node.names)
    return bound
