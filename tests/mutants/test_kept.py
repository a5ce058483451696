"""The kept lines are still there: a list of lines that are gone guards nothing."""

from __future__ import annotations

import pytest

from tests.mutants.kept import MUTANTS, Mutant
from tests.mutants.runner import CAUGHT, ROOT, SURVIVED, Runner

by_name = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.guards)


@by_name
def test_its_text_stands_once_in_its_module(mutant):
    text = (ROOT / "drf_mcp" / mutant.path).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    changed = text.replace(mutant.old, mutant.new)
    compile(changed, mutant.path, "exec")


@by_name
def test_its_tests_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        assert (ROOT / "tests" / test.partition("::")[0]).exists(), test


def test_each_guards_something_of_its_own():
    assert len({mutant.guards for mutant in MUTANTS}) == len(MUTANTS) >= 40


@pytest.mark.slow
def test_a_run_says_what_is_caught_and_what_survives():
    lost = next(mutant for mutant in MUTANTS if mutant.path == "protocol/headers.py")
    harmless = Mutant("nothing", lost.path, lost.old, lost.old, lost.tests)
    assert [each.outcome for each in Runner([lost, harmless], 2).run()] == [CAUGHT, SURVIVED]
