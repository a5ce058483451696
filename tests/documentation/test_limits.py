"""Each limit on the pages has the default of the code, and names a test that exists."""

from __future__ import annotations

import re
from importlib import import_module

from drf_mcp.settings import DEFAULTS, mcp_settings
from tests.documentation.test_threats import TESTS, is_collected

PAGES = [TESTS.parent / "docs" / name for name in ("security.md", "compose.md")]
HEADING = "| What | Default | Where | Beyond it | Shown by |"
ROWS = [
    re.split(r"(?<!\\) \| ", line.strip("| "))
    for page in PAGES
    for line in page.read_text().partition(HEADING)[2].partition("\n\n")[0].splitlines()[2:]
]


def find_default(name: str) -> int:
    if found := re.fullmatch(r"(\w+)\[\"(\w+)\"\]", name):
        return getattr(mcp_settings, found[1])[found[2]]
    if "." not in name:
        return DEFAULTS[name]
    path, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(path), attribute)
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(getattr(import_module(module), owner), attribute)


def test_each_limit_equals_the_code_and_has_a_test():
    told = {where: int(default.replace(",", "")) for _, default, where, _, _ in ROWS}
    assert told == {where: find_default(where.strip("`")) for where in told}
    assert [what for what, _, _, beyond, _ in ROWS if not beyond] == []
    assert [test for *_, test in ROWS if not is_collected(test.strip("`"))] == []
    assert len(ROWS) > 20
