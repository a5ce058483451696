"""``python -m tests.mutants``: change each line of `kept` and run the nearest tests.

Words choose mutants by their rule or the path of their module. ``--processes 2`` runs the tests of
two mutants at a time. The exit code is 1 unless each mutant makes a test fail.
"""

from __future__ import annotations

import argparse
import sys

from tests.mutants.kept import MUTANTS
from tests.mutants.runner import CAUGHT, Runner


def main(arguments: list[str]) -> int:
    """Print a line for each mutant."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    chosen = [
        mutant
        for mutant in MUTANTS
        if not options.words or any(w in f"{mutant.path} {mutant.guards}" for w in options.words)
    ]
    if not chosen:
        parser.error("no rule or module contains these words")
    counts: dict[str, int] = {}
    for verdict in Runner(chosen, options.processes).run():
        counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
        mutant = verdict.mutant
        sys.stdout.write(
            f"{verdict.outcome:24} {verdict.seconds:4.0f} s  {mutant.path}: {mutant.guards}\n"
            f"{'':24}         {verdict.message[:120]}\n"
        )
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + "\n")
    return 0 if set(counts) == {CAUGHT} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
