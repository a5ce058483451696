"""The mutants are applicable: their lines and their tests exist."""

from __future__ import annotations

import pytest

from tests.mutants.kept import MUTANTS
from tests.mutants.runner import ROOT


@pytest.mark.slow
def test_each_module_has_the_line_once():
    found = {}
    for mutant in MUTANTS:
        text = (ROOT / "drf_mcp" / mutant.path).read_text(encoding="utf-8")
        found[mutant.guards] = text.count(mutant.old)
        compile(text.replace(mutant.old, mutant.new), mutant.path, "exec")
    assert {guards: count for guards, count in found.items() if count != 1} == {}


def test_the_tests_of_each_mutant_exist():
    named = [
        (mutant.guards, test.partition("::")[0]) for mutant in MUTANTS for test in mutant.tests
    ]
    assert [name for name in named if not (ROOT / "tests" / name[1]).exists()] == []
    assert all(mutant.tests for mutant in MUTANTS)


def test_each_mutant_has_its_own_rule():
    assert len({mutant.guards for mutant in MUTANTS}) == len(MUTANTS) >= 60
