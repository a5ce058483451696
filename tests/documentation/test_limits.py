"""Each limit on the pages has the default of the code, and names a test that exists."""

from __future__ import annotations

import re
from importlib import import_module

from drf_mcp.option_types.kinds import Bound
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
    assert len(ROWS) > 10


def test_the_table_of_bounds_has_each_with_its_default_sentence_and_test():
    page = (TESTS.parent / "docs" / "limits.md").read_text()
    table = page.partition("| What | Setting |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table]
    bounds = {n: s for n, s in mcp_settings.table.items() if isinstance(s.kind, Bound)}
    expected = {}
    for name, (default, kind, *_) in bounds.items():
        expected[f"`{name}`"] = f"{default:,}", kind.sentence % {"most": f"{default:,}"}
    assert {name: (default, sentence) for _, name, default, sentence, _ in rows} == expected
    assert [test for *_, test in rows if not is_collected(test.strip("`"))] == []
