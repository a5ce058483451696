"""A program as the interpreter gets it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from drf_mcp.contrib.compose.sandbox import ProgramFailed

# The name of the value of a program whose last line is no expression.
VALUE = "result"


@dataclass
class Program:
    """The text that the interpreter gets, and the line of the program of each of its lines."""

    text: str
    lines: dict[int, int] = field(default_factory=dict)

    def find_line(self, line: int | None) -> int | None:
        before = [each for each in self.lines if line is not None and each <= line]
        return self.lines[max(before)] if before else line


def read_program(text: str) -> Program:
    """Return what runs in place of a program.

    Raises:
        ProgramFailed: if the program cannot run.
    """
    try:
        tree = ast.parse(text)
        give_value(tree)
        written = ast.unparse(ast.fix_missing_locations(tree))
        again = ast.parse(written)
    except SyntaxError as exc:
        raise ProgramFailed(exc.msg, "SyntaxError", exc.lineno) from exc
    except (RecursionError, MemoryError, ValueError) as exc:
        raise ProgramFailed("The program is nested too deeply.", "SyntaxError") from exc
    pairs = zip(find_statements(tree), find_statements(again), strict=True)
    return Program(written, {new.lineno: old.lineno for old, new in pairs})


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
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and is_stored(n)}
        target = ast.Name(VALUE) if VALUE in stored and not isinstance(last, ast.Expr) else None
    if isinstance(target, ast.Name) and last is not None:
        value = ast.Expr(ast.Name(target.id, ast.Load()))
        tree.body.append(ast.copy_location(value, last))


def is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)
