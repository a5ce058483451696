"""Each limit of the security page has the default of the code, and a test that exists."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from drf_mcp.settings import DEFAULTS
from tests.documentation.test_threats import TESTS, is_collected

PAGE = TESTS.parent / "docs" / "security.md"
HEADING = "| What | Default | Where | Beyond it | Shown by |"
ROWS = [
    re.split(r"(?<!\\) \| ", line.strip("| "))
    for line in PAGE.read_text().partition(HEADING)[2].partition("\n\n")[0].splitlines()[2:]
]


def find_default(name: str) -> int:
    if "." not in name:
        return DEFAULTS[name]
    path, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(path), attribute)
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(getattr(import_module(module), owner), attribute)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_limit_is_that_of_the_code_and_has_a_test(row):
    _what, default, where, beyond, test = row
    assert beyond
    assert int(default.replace(",", "")) == find_default(where.strip("`"))
    assert is_collected(test.strip("`"))


def test_the_table_is_read():
    assert len(ROWS) > 15
