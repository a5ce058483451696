"""The mutants are applicable: each changes a function of the package, and its tests exist."""

from __future__ import annotations

import pytest

from tests.mutants.changes import changes_tree
from tests.mutants.kept import MUTANTS
from tests.mutants.runner import ROOT, find_places


@pytest.mark.slow
def test_each_mutant_changes_one_function():
    places = find_places(ROOT)
    found = {str(each): places.get(each.function, []) for each in MUTANTS}
    assert {name: len(where) for name, where in found.items() if len(where) != 1} == {}
    assert [
        str(each) for each in MUTANTS if not changes_tree(each.change, found[str(each)][0].function)
    ] == []


def test_the_tests_of_each_mutant_exist():
    named = {(str(each), test) for each in MUTANTS for test in each.tests}
    assert [name for name in named if not (ROOT / "tests" / name[1]).exists()] == []
    assert all(each.tests for each in MUTANTS)
    assert len({str(each) for each in MUTANTS}) == len(MUTANTS)
