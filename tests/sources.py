"""The modules of the package as syntax trees, each parsed when first used."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import drf_mcp

ROOT = Path(drf_mcp.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))


@functools.cache
def tree_of(source: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(source.read_text())


@functools.cache
def nodes_of(source: Path) -> tuple[ast.AST, ...]:
    """Return the nodes of the syntax tree of a module."""
    return tuple(ast.walk(tree_of(source)))
