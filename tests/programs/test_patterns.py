"""A JavaScript engine, as clients use it, compiles every pattern in a schema."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess

import pytest

from drf_mcp.exposure import registry
from drf_mcp.introspection.names import is_ecmascript
from tests.introspection.nasty.conftest import nasty  # noqa: F401
from tests.introspection.test_patterns import SHARED, TRANSLATED

SCRIPT = """
const patterns = JSON.parse(require('fs').readFileSync(0))
const refused = patterns.filter(p => { try { new RegExp(p, 'u') } catch { return true } })
console.log(JSON.stringify(refused))
"""


def patterns_in(schema):
    if isinstance(schema, list):
        for member in schema:
            yield from patterns_in(member)
    elif isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for member in schema.values():
            yield from patterns_in(member)


def refused(patterns):
    """Return the patterns that node does not compile with the u flag."""
    if shutil.which("node") is None:
        reason = "node is not installed: PATTERNS ARE NOT TRIED IN A JAVASCRIPT ENGINE"
        if os.environ.get("DRF_MCP_REQUIRE_NODE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    ran = subprocess.run(
        ["node", "-e", SCRIPT],
        input=json.dumps(sorted(patterns)),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


def find_patterns():
    schemas = [[tool.input_schema, tool.schema.output] for tool in registry.tools().values()]
    return set(patterns_in(schemas))


def test_node_reports_a_wrong_pattern():
    assert refused({r"^\w+\Z", "^a$"}) == [r"^\w+\Z"]


@pytest.mark.parametrize("portable", [True, False])
def test_every_pattern_of_the_nasty_project_compiles(nasty, portable):  # noqa: F811
    nasty(PORTABLE=portable)
    patterns = find_patterns()
    assert patterns
    assert refused(patterns) == []


def test_every_pattern_of_the_example_project_compiles():
    assert refused(find_patterns()) == []


PIECES = re.split(
    " ", r"a - 0 ] [ [^ ( (?: (?= (?<! { {2} {1,} * + ? . ^ $ | \d \S \- \. \] \@ , /"
)


def test_every_pattern_that_is_kept_or_translated_compiles():
    chance = random.Random(7)
    made = ("".join(chance.choices(PIECES, k=chance.randint(1, 7))) for _ in range(20_000))
    kept = list(filter(is_ecmascript, made))
    assert len(kept) > 1000
    assert refused([*kept, *SHARED, *(written for _, written in TRANSLATED)]) == []
