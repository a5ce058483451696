"""Each threat in SECURITY.md names a test that exists and is collected."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "SECURITY.md"
HEADING = "| Threat | What holds against it | Shown by |"


def read_rows() -> list[list[str]]:
    table = PAGE.read_text().partition(HEADING)[2].partition("\n\n")[0]
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines()[2:]]
    assert len(rows) > 20
    return rows


ROWS = read_rows()


@cache
def find_functions(file: str) -> set[str]:
    body = ast.parse((TESTS / file).read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def is_collected(test: str) -> bool:
    """Return whether the names of a test's file and function are those that pytest collects."""
    file, _, name = test.partition("::")
    is_named_so = Path(file).match("test_*.py") and name.startswith("test_")
    return is_named_so and name in find_functions(file)


def test_each_threat_has_one_row_with_an_answer_and_a_test():
    assert len({threat for threat, _, _ in ROWS if threat}) == len(ROWS)
    assert [answer for _, answer, _ in ROWS if not answer.endswith(".")] == []
    assert [test for *_, test in ROWS if not re.fullmatch("`[^`]+`", test)] == []
    assert [test for *_, test in ROWS if not is_collected(test.strip("`"))] == []
