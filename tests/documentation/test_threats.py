"""Each threat of the reference names a test that exists and is collected."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reference" / "threats.md"
HEADING = "| Threat | What holds against it | Shown by |"


def read_rows() -> list[list[str]]:
    table = PAGE.read_text().partition(HEADING)[2].partition("\n\n")[0]
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines()[2:]]
    assert len(rows) > 20
    return rows


ROWS = read_rows()


def is_collected(test: str) -> bool:
    """Return whether pytest collects a test: by the names of its file and of its function."""
    file, _, name = test.partition("::")
    functions = ast.parse((TESTS / file).read_text()).body
    names = {node.name for node in functions if isinstance(node, ast.FunctionDef)}
    return Path(file).match("test_*.py") and name.startswith("test_") and name in names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_threat_has_an_answer_and_a_test(row):
    threat, answer, test = row
    assert threat
    assert answer.endswith(".")
    assert re.fullmatch("`[^`]+`", test)
    assert is_collected(test.strip("`"))


def test_no_threat_stands_twice():
    assert len({row[0] for row in ROWS}) == len(ROWS)
