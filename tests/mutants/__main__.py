"""``python -m tests.mutants``: make each change of `kept` and run the nearest tests.

Words choose mutants by the name of a function, or the folder of its module. ``--processes 2`` runs
the tests of two mutants at a time. The exit code is 1 unless each mutant makes a test fail.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.mutants.kept import MUTANTS
from tests.mutants.runner import CAUGHT, ROOT, Runner, find_places


def main(arguments: list[str]) -> int:
    """Print a line for each mutant."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    places = find_places(ROOT)
    texts = {each: f"{places[each.function][0].path}: {each}" for each in MUTANTS}
    chosen = [m for m, text in texts.items() if all(word in text for word in options.words)]
    if not chosen:
        parser.error("no function or module has these words")
    counts: Counter[str] = Counter()
    for mutant, outcome, seconds, message in Runner(chosen, options.processes).run():
        counts[outcome] += 1
        sys.stdout.write(f"{outcome:24} {seconds:4.0f} s  {texts[mutant]}\n")
        sys.stdout.write(f"{'':24}         {message[:120]}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + "\n")
    return 0 if set(counts) == {CAUGHT} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
