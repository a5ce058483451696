"""``python -m benchmarks``: what calls, lists and a new process take, as one table.

Times are processor times; a call's figure is a multiple of the plain request's. With ``--gate`` a
figure over its bar is measured again, and the exit code is 1 if it stays over it by more than the
margin.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from importlib.metadata import version
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from benchmarks.cases import Case, Found

# How often a figure over its bar is measured, and how far over it may stay, since other processes
# use the same processor.
ATTEMPTS, MARGIN = 4, 0.08


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure in a database in memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="shell patterns of names")
    parser.add_argument("--rounds", type=int, default=60, help="rounds of two requests each")
    parser.add_argument("--gate", action="store_true", help="fail where a figure is over its bar")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    seed()
    from benchmarks.cases import find_cases

    packages = (f"{name} {version(name)}" for name in ("Django", "djangorestframework"))
    write(f"Python {platform.python_version()}, {', '.join(packages)}\n")
    write("| | figure | bar | |\n|---|--:|--:|---|")
    failing = []
    for case in find_cases(asked.rounds):
        chosen = not asked.names or any(fnmatch(case.name, name) for name in asked.names)
        if not chosen:
            continue
        found = find_best(case) if asked.gate else case.measure()
        write(f"| {case.name} | {found.figure:.2f} | {case.bar} | {found.note} |")
        failing += name_faults(case, found) if asked.gate else []
    for fault in failing:
        write(fault)
    return int(bool(failing))


def find_best(case: Case) -> Found:
    """Return the least figure of several attempts; the first within the bar ends them."""
    best = case.measure()
    for _ in range(ATTEMPTS - 1):
        if best.figure <= case.bar:
            break
        best = min(best, case.measure(), key=lambda found: found.figure)
    return best


def name_faults(case: Case, found: Found) -> list[str]:
    """Return a sentence for each thing that the gate does not let through."""
    over = found.figure > case.bar * (1 + MARGIN)
    faults = [f"{case.name}: {found.figure:.2f} is over {case.bar}."] if over else []
    return [*faults, *([f"{case.name}: {found.fault}."] if found.fault else [])]


def seed() -> None:
    """Create the database and fill it."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("seed", verbosity=0)


def write(line: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
