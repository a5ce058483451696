"""The runner of the mutants, which starts pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.changes import rename, returns
from tests.mutants.kept import Mutant
from tests.mutants.runner import CAUGHT, SURVIVED, UNRELATED, Runner

# Neither Django nor the plugin of the package, as the tree has a package of the same name.
OPTIONS = """
[tool.pytest.ini_options]
addopts = "-p no:django -p no:drf_mcp -p no:xdist"
markers = ["slow", "variant"]
"""
TESTS = """
import pytest
from drf_mcp.sums import add

@pytest.mark.slow
def test_add():
    assert add(1, 2) == 3

def test_red():
    raise AssertionError
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package with one module and its tests, one of which fails."""
    files = {
        "pyproject.toml": OPTIONS,
        "drf_mcp/__init__.py": "",
        "drf_mcp/sums.py": "def add(a, b):\n    return a + b\n",
        "tests/test_sums.py": TESTS,
    }
    for name, text in files.items():
        file = tmp_path / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "tree"


def test_a_run_reports_caught_and_surviving_mutants_and_tests_that_fail_without_one(tree):
    mutants = [
        Mutant("add", rename("b", "a"), "test_sums.py::test_add"),
        Mutant("add", returns("b + a"), "test_sums.py::test_add"),
        Mutant("add", rename("b", "a"), "test_sums.py::test_red"),
    ]
    found = list(Runner(mutants, 2, tree).run())
    assert [each.outcome for each in found] == [CAUGHT, SURVIVED, UNRELATED]
    assert found[0].message.startswith("FAILED tests/test_sums.py::test_add")
