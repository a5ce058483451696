"""Compares the output of commands with files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("golden")


def assert_golden(name: str, actual: str) -> None:
    path = FOLDER / name
    if path.exists() and path.read_text() == actual:
        return
    seen = Path(tempfile.gettempdir()) / f"drf_mcp-{name}"
    seen.write_text(actual)
    pytest.fail(f"{name} differs. Look at it, and to accept it: cp {seen} {path}")
