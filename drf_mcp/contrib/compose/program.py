"""A program as the interpreter gets it: read, checked and rewritten before the first call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drf_mcp.contrib.compose.calls import OWN_FUNCTIONS, find_required, name_argument
from drf_mcp.contrib.compose.prelude import MODULES, find_loaded_names, write_prelude
from drf_mcp.contrib.compose.rewriting import (
    INTERPRETER,
    TYPES,
    TYPING,
    Rewriter,
    find_bound,
    find_dotted_name,
    name_of,
    walk_own,
    write,
)
from drf_mcp.contrib.compose.sandbox import MOST_PROBLEMS, ProgramFailed, RaisedInProgram, refuse
from drf_mcp.errors import ask_nearest, find_nearest
from drf_mcp.outcomes import JSONPointer

# The name of the value of a program whose last line is no expression.
VALUE = "result"
# Functions that may leave rows of a generator.
LAZY = {"any", "all", "next", "iter", "islice", "takewhile", "zip"}
LACKING = INTERPRETER["lacking_builtins"]
KNOWN = {*dir(builtins), "ToolError", "__name__", "__file__"} - LACKING
# The problems of arguments that a call has for certain, by their codes.
CERTAIN = frozenset({"required", "unknown", "read_only"})


@dataclass
class Program:
    """The text that the interpreter gets, and the line of the program of each of its lines.

    Attributes:
        parts: what of Python's library comes before it.
        imports: what the program imports, by its lines.
        names: the names that the program reads.
    """

    text: str
    parts: str
    lines: Mapping[int, int]
    imports: Sequence[tuple[int, str]]
    names: set[str]

    def find_line(self, line: int | None) -> int | None:
        before = [each for each in self.lines if line is not None and each <= line]
        return self.lines[max(before)] if before else line


def read_program(text: str, calls: Any) -> Program:
    """Return what runs in place of a program.

    Args:
        calls: the `ProgramCalls` of the program, or the `LoadedTools` it is checked against.

    Raises:
        ProgramFailed: with everything that would fail, if the program cannot run.
    """
    try:
        tree = ast.parse(text)
        problems = [*Checker(tree, calls).find_problems()]
        _give_value(tree)
        rewriter = Rewriter(tree, calls.functions)
        rewriter.visit(tree)
        imports = [*_find_imports(tree)]
        refuse([*problems, *rewriter.problems])
        written = ast.unparse(ast.fix_missing_locations(tree))
        again = ast.parse(written)
    except SyntaxError as exc:
        cure = "Use other quotes inside of the f-string." if "f-string" in exc.msg else ""
        raise ProgramFailed(f"{exc.msg}. {cure}".strip(), "SyntaxError", exc.lineno) from exc
    except (RecursionError, MemoryError, ValueError) as exc:
        raise ProgramFailed("The program is nested too deeply.", "SyntaxError") from exc
    pairs = zip(_find_statements(tree), _find_statements(again), strict=True)
    lines = {new.lineno: old.lineno for old, new in pairs}
    names = find_loaded_names(again) - find_bound(again)[0]
    parts = f"_LENGTHS = {rewriter.lengths}\n{write_prelude(again)}"
    return Program(written, parts, lines, imports, names)


def _find_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return what a program takes from modules of the interpreter, each as a statement."""
    caught = _find_tried(tree)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node not in caught:
            yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.Import):
            names |= {each.asname or each.name: each.name for each in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and find_dotted_name(node.value) in names:
            yield node.lineno, ast.unparse(node)


def _find_tried(tree: ast.Module) -> set[ast.AST]:
    tried = [each for each in ast.walk(tree) if isinstance(each, ast.Try)]
    return {each for one in tried for part in one.body for each in ast.walk(part)}


def _find_statements(tree: ast.Module) -> list[ast.stmt]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def _give_value(tree: ast.Module) -> None:
    """Let a program end with its value, also where its last line is an assignment."""
    last = tree.body[-1] if tree.body else None
    value: ast.expr | None = None
    if isinstance(last, ast.Expr):
        value = last.value
        tree.body.pop()
    elif isinstance(last, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        target = last.targets[0] if isinstance(last, ast.Assign) else last.target
        value = ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else None
    elif VALUE in find_bound(tree)[0]:
        value = ast.Name(VALUE, ast.Load())
    if value is not None and last is not None:
        ended = ast.Expr(write("_end(VALUE)", VALUE=value))
        tree.body.append(ast.fix_missing_locations(ast.copy_location(ended, last)))


def _is_mapped(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in ("map", "filter")


def _find_read(tree: ast.Module) -> Iterator[ast.AST]:
    """Return what is read to its end, as by most functions."""
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) not in LAZY:
            yield from node.args
        elif isinstance(node, ast.Starred):
            yield node.value
        elif isinstance(node, comprehensions):
            yield from (each.iter for each in node.generators)
        elif isinstance(node, ast.For):
            ends = (ast.Break, ast.Return)
            if not any(isinstance(each, ends) for each in ast.walk(node)):
                yield node.iter


class Checker:
    """Finds what would fail in a program, whichever line runs."""

    def __init__(self, tree: ast.Module, calls: Any) -> None:
        self.tree = tree
        self.calls = calls
        self.bound, self.defined, self.imported = find_bound(tree)
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        functions = [each for each in ast.walk(tree) if isinstance(each, kinds)]
        self.functions = {each.name: find_loaded_names(each) for each in functions}
        yields = (ast.Yield, ast.YieldFrom)
        self.lazy: set[ast.AST] = {
            each for each in functions if any(isinstance(x, yields) for x in walk_own(each))
        }
        made = [x for x in ast.walk(tree) if isinstance(x, ast.GeneratorExp) or _is_mapped(x)]
        self.lazy |= {*made} - {*_find_read(tree)}
        self.known = self.bound | KNOWN | calls.functions.keys() | set(OWN_FUNCTIONS)
        self.lists_modules = True
        names = find_loaded_names(tree) - self.bound
        # Who may not call a tool learns nothing of its arguments.
        visible = calls.visibility.of([t for name, t in calls.functions.items() if name in names])
        self.tools = {calls.function_names[tool.name]: tool for tool in visible}

    def find_problems(self) -> Iterator[tuple[int, str]]:
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        called, found = {node.func for node in calls}, 0
        caught = _find_tried(self.tree)
        node: Any
        for node in ast.walk(self.tree):
            texts: Iterator[str] = iter(())
            if isinstance(node, ast.Name):
                texts = self._check_name(node.id, node in called)
            elif isinstance(node, (ast.Import, ast.ImportFrom)) and node in caught:
                continue
            elif isinstance(node, ast.Import):
                texts = (text for each in node.names for text in self._check_module(each.name))
            elif isinstance(node, ast.ImportFrom):
                texts = self._check_import(node.module or "", [each.name for each in node.names])
            elif isinstance(node, ast.Attribute):
                texts = self._check_attribute(node.attr, name_of(node.value))
            elif isinstance(node, ast.Call):
                texts = self._check_call(node, find_dotted_name(node.func))
            if node in self.lazy and (tool := self._find_tool(node, writes=True)):
                texts = iter([f"A generator would call {tool} for all rows: call it in a loop."])
            for text in texts:
                yield node.lineno, text
                found += 1
            if found > MOST_PROBLEMS:
                # To look for what each unknown name may mean takes a while.
                return
        last = self.tree.body[-1] if self.tree.body else None
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name):
            name = last.value.id
            if name in self.defined or name in self.calls.functions.keys() - self.bound:
                yield last.lineno, f"The program ends with the name of a function: call {name}()."

    def _check_name(self, name: str, is_called: bool) -> Iterator[str]:
        if name in self.known:
            return
        if name in LACKING:
            yield f"{name} does not work here: write it in other words."
            return
        if not is_called:
            nearest = find_nearest(name, sorted(self.bound))
            yield f"NameError: name '{name}' is not defined. {ask_nearest(nearest)}".strip()
            return
        try:
            self.calls.find_tool(name)
        except RaisedInProgram as exc:
            # What a narrowing takes away is refused when it is called.
            if isinstance(exc.exception, NameError):
                yield str(exc.exception)

    def _check_module(self, name: str) -> Iterator[str]:
        every = {*INTERPRETER["modules"], *MODULES, "enum", "types"}
        if name not in every | TYPING:
            modules = f" The modules are {', '.join(sorted(every))}." if self.lists_modules else ""
            self.lists_modules = False
            yield f"No module named '{name}' here.{modules}"

    def _check_import(self, module: str, names: list[str]) -> Iterator[str]:
        yield from self._check_module(module)
        if "*" in names:
            yield "Import names, not *."
        for name in names if module in MODULES and "*" not in names else ():
            yield from self._check_member(module, name)

    def _check_attribute(self, name: str, of: str) -> Iterator[str]:
        yield from self._check_member(self.imported.get(of, ""), name)
        is_special = name[:2] == "__" and name not in ("__name__", "__class__", "__getitem__")
        if name not in self.defined and (is_special or name in INTERPRETER["lacking_methods"]):
            yield f"{name} does not work here: write it in other words."

    def _check_member(self, module: str, name: str) -> Iterator[str]:
        if module in MODULES and name not in MODULES[module]:
            yield f"{module} has no {name} here. It has {', '.join(MODULES[module])}."

    def _check_call(self, node: ast.Call, name: str) -> Iterator[str]:
        if name in ("getattr", "hasattr") and len(node.args) > 1 and name not in self.bound:
            asked = _read_literal(node.args[1])
            if any(hasattr(kind, str(asked)) for kind in TYPES.values()):
                yield f"{name}() finds no methods here: call the method, or use isinstance()."
        if name.rpartition(".")[2] in INTERPRETER["impatient"]:
            given = [*node.args, *(each.value for each in node.keywords)]
            called = [x for x in given if isinstance(x, (ast.Name, ast.Lambda))]
            if tools := [tool for each in called if (tool := self._find_tool(each))]:
                yield f"{name} cannot call {tools[0]}: write a loop."
        if name in self.tools:
            yield from self._check_arguments(node, name, self.tools[name])

    def _find_tool(self, node: ast.AST, *, writes: bool = False) -> str:
        """Return a tool that some code calls, or that its functions call; "" for none."""
        seen: set[str] = set()
        waiting = sorted(find_loaded_names(node))
        while waiting:
            name = waiting.pop()
            if name in self.tools and not (writes and self.tools[name].reads):
                return name
            if name not in seen:
                seen.add(name)
                waiting += sorted(self.functions.get(name, ()))
        return ""

    def _check_arguments(self, node: ast.Call, name: str, tool: Any) -> Iterator[str]:
        required, arguments = find_required(tool), tool.arguments
        if any(isinstance(each, ast.Starred) for each in node.args):
            return
        if len(node.args) > len(required):
            known = ", ".join(tool.input_schema.get("properties", {}))
            yield f"{name} takes arguments by name: {known or 'none'}."
            return
        sent = dict.fromkeys(required[: len(node.args)], "?")
        named = [(each.arg, each.value) for each in node.keywords if each.arg]
        sent |= {name_argument(tool, each): _read_literal(value) for each, value in named}
        guards = {arguments.find_control_pointer(each.name) for each in tool.controls}
        for problem in [*arguments.find_problems(sent), *arguments.find_missing(sent)]:
            # `**more` may have it.
            path, is_missing = JSONPointer(problem.pointer).path, problem.code == "required"
            is_open = is_missing and (len(named) < len(node.keywords) or path[0] not in required)
            is_inside = len(path) > 1 or problem.pointer in guards
            if problem.code in CERTAIN and not is_open and not is_inside:
                yield f"{name} {problem.pointer}: {problem.message} {problem.remediation}".strip()


def _read_literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "?"
