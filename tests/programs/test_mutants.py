"""The runner of the mutants, which starts pytest."""

from __future__ import annotations

from tests.mutants.kept import MUTANTS, Mutant
from tests.mutants.runner import CAUGHT, SURVIVED, Runner


def test_a_run_says_what_is_caught_and_what_survives():
    lost = next(mutant for mutant in MUTANTS if mutant.path == "protocol/headers.py")
    harmless = Mutant("nothing", lost.path, lost.old, lost.old, lost.tests)
    assert [each.outcome for each in Runner([lost, harmless], 2).run()] == [CAUGHT, SURVIVED]
