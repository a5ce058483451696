"""A program as the interpreter gets it: read, checked and rewritten before the first call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from drf_mcp.contrib.compose.calls import OWN_FUNCTIONS, ProgramCalls, get_required, name_argument
from drf_mcp.contrib.compose.prelude import MODULES, find_loaded_names, write_prelude
from drf_mcp.contrib.compose.rewriting import TYPES, TYPING, Rewriter, find_bound
from drf_mcp.contrib.compose.sandbox import ProgramFailed, RaisedInProgram
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import ask_nearest, find_nearest

# The name of the value of a program whose last line is no expression.
VALUE = "result"
# The modules of the interpreter itself.
OWN_MODULES = (
    *("base64", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal"),
    *("functools", "hashlib", "itertools", "json", "math", "os", "pathlib", "random", "re"),
    *("sys", "time", "tomllib", "typing", "unicodedata"),
)
# Builtins of Python that the interpreter lacks.
LACKING = {
    *("aiter", "anext", "breakpoint", "bytearray", "callable", "compile", "dir", "exit", "globals"),
    *("help", "input", "memoryview", "quit", "super", "vars"),
}
KNOWN = {*dir(builtins), "ToolError", "__name__", "__file__"} - LACKING
# How many problems are told at once.
MOST_PROBLEMS = 8


@dataclass
class Program:
    """The text that the interpreter gets, and the line of the program of each of its lines."""

    text: str
    parts: str = ""
    lines: Mapping[int, int] = field(default_factory=dict)

    def find_line(self, line: int | None) -> int | None:
        before = [each for each in self.lines if line is not None and each <= line]
        return self.lines[max(before)] if before else line


def read_program(text: str, calls: ProgramCalls) -> Program:
    """Return what runs in place of a program that makes calls.

    Raises:
        ProgramFailed: with everything that would fail, if the program cannot run.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        # The interpreter reads a newer Python than the server may have, and says what is wrong.
        return Program(text)
    except (RecursionError, MemoryError, ValueError) as exc:
        raise ProgramFailed("The program is nested too deeply.", "SyntaxError") from exc
    try:
        Checker(tree, calls).check()
        give_value(tree)
        rewriter = Rewriter(tree)
        rewriter.visit(tree)
        refuse([(getattr(node, "lineno", 0), said) for node, said in rewriter.problems])
        written = ast.unparse(ast.fix_missing_locations(tree))
        again = ast.parse(written)
    except (RecursionError, MemoryError) as exc:
        raise ProgramFailed("The program is nested too deeply.", "SyntaxError") from exc
    pairs = zip(find_statements(tree), find_statements(again), strict=True)
    return Program(written, write_prelude(again), {new.lineno: old.lineno for old, new in pairs})


def find_statements(tree: ast.Module) -> list[ast.stmt]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def give_value(tree: ast.Module) -> None:
    """Let a program whose last line is an assignment give what was assigned."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Assign):
        target: ast.expr | None = last.targets[0]
    elif isinstance(last, (ast.AnnAssign, ast.AugAssign)):
        target = last.target
    else:
        is_known = VALUE in find_bound(tree) and not isinstance(last, ast.Expr)
        target = ast.Name(VALUE) if is_known else None
    if isinstance(target, ast.Name) and last is not None:
        value = ast.Expr(ast.Name(target.id, ast.Load()))
        tree.body.append(ast.copy_location(value, last))


def refuse(problems: list[tuple[int, str]]) -> None:
    if not problems:
        return
    ordered = sorted(dict.fromkeys(problems))
    first, *others = ordered[:MOST_PROBLEMS]
    texts = [first[1], *(f"Line {line}: {text}" for line, text in others)]
    if len(ordered) > MOST_PROBLEMS:
        texts.append(f"{len(ordered) - MOST_PROBLEMS} more.")
    raise ProgramFailed(" ".join(texts), "", first[0])


class Checker:
    """Finds what would fail in a program, whichever line runs."""

    def __init__(self, tree: ast.Module, calls: ProgramCalls) -> None:
        self.tree = tree
        self.calls = calls
        self.bound = find_bound(tree)
        self.known = self.bound | KNOWN | calls.functions.keys() | set(OWN_FUNCTIONS)
        names = find_loaded_names(tree) - self.bound
        # Who may not call a tool learns nothing of its arguments.
        called = [tool for name, tool in calls.functions.items() if name in names]
        visible = calls.visibility.of(called)
        self.tools = {calls.function_names[tool.name]: tool for tool in visible}

    def check(self) -> None:
        problems: list[tuple[int, str]] = []
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        called = {node.func for node in calls}
        for node in ast.walk(self.tree):
            if len(problems) > MOST_PROBLEMS:
                # To look for what each unknown name may mean takes a while.
                break
            if isinstance(node, ast.Name):
                texts = self.check_name(node, node in called)
                problems += [(node.lineno, text) for text in texts]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                problems += [(node.lineno, text) for text in self.check_import(node)]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                problems += [(node.lineno, text) for text in self.check_call(node, node.func.id)]
        refuse([*problems, *self.check_end()])

    def check_name(self, node: ast.Name, is_called: bool) -> Iterator[str]:
        if node.id in self.known:
            return
        if not is_called:
            nearest = find_nearest(node.id, sorted(self.bound))
            yield f"NameError: name '{node.id}' is not defined. {ask_nearest(nearest)}".strip()
            return
        try:
            self.calls.find_tool(node.id)
        except RaisedInProgram as exc:
            # What a narrowing takes away is refused when it is called.
            if isinstance(exc.exception, NameError):
                yield str(exc.exception)

    def check_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        module = node.module or "" if isinstance(node, ast.ImportFrom) else None
        names = [alias.name for alias in node.names] if module is None else [module]
        known = {*OWN_MODULES, *MODULES, *TYPING, "enum"}
        for name in names:
            if name not in known:
                every = ", ".join(sorted({*OWN_MODULES, *MODULES, "enum"}))
                yield f"No module named '{name}'. There are {every}."
        if module is not None and node.names[0].name == "*":
            yield "Import names, not *."

    def check_call(self, node: ast.Call, name: str) -> Iterator[str]:
        if name in ("getattr", "hasattr") and len(node.args) > 1 and name not in self.bound:
            asked = read_value(node.args[1])
            if any(hasattr(kind, str(asked)) for kind in TYPES.values()):
                yield f"{name}() finds no methods here: call the method, or use isinstance()."
        if name in ("any", "all", "next") and node.args and name not in self.bound:
            yield from self.check_lazy(name, node.args[0])
        tool = self.tools.get(name)
        if tool is None:
            return
        required = get_required(tool)
        if any(isinstance(each, ast.Starred) for each in node.args):
            return
        if len(node.args) > len(required):
            known = ", ".join(tool.input_schema.get("properties", {}))
            yield f"{name} takes arguments by name: {known or 'none'}."
            return
        sent = dict.fromkeys(required[: len(node.args)], "?")
        named = ((each.arg, each.value) for each in node.keywords if each.arg)
        sent |= {name_argument(tool, each): read_value(value) for each, value in named}
        arguments = tool.arguments
        problems = [*arguments.find_problems(sent), *arguments.find_missing(sent)]
        guards = {arguments.get_control_pointer(each.name) for each in tool.controls}
        for problem in problems:
            is_open = problem.code == "required" and any(not each.arg for each in node.keywords)
            if len(JSONPointer(problem.pointer).path) > 1 or is_open:
                continue
            if problem.code in CERTAIN and problem.pointer not in guards:
                yield f"{name} {problem.pointer}: {problem.message} {problem.remediation}".strip()

    def check_lazy(self, name: str, rows: ast.expr) -> Iterator[str]:
        # The interpreter makes all rows of a generator, where Python would stop at one.
        for each in find_loaded_names(rows) if isinstance(rows, ast.GeneratorExp) else ():
            if each in self.tools and not self.tools[each].reads:
                yield f"{name}() would make every call of {each}: call it in a loop with `break`."

    def check_end(self) -> Iterator[tuple[int, str]]:
        last = self.tree.body[-1] if self.tree.body else None
        if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name):
            name = last.value.id
            if name in self.bound.functions or name in self.calls.functions.keys() - self.bound:
                yield last.lineno, f"The program ends with the name of a function: call {name}()."


CERTAIN = frozenset({"required", "unknown", "read_only"})


def read_value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "?"
