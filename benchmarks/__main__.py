"""``python -m benchmarks``: measure everything on the example project and print one table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatch

import django


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure in a database in memory, which is created, filled and dropped."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="shell patterns of names")
    parser.add_argument("--rounds", type=int, default=100, help="rounds of three requests each")
    parser.add_argument("--tools", default="100,1000", help="tools of the generated projects")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    seed()
    show(asked.names, asked.rounds, [int(count) for count in asked.tools.split(",")])


def seed() -> None:
    """Create the database and fill it."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("seed", verbosity=0)


def show(names: Sequence[str], rounds: int, tool_counts: Sequence[int]) -> None:
    """Print each row of the table as soon as it is measured."""
    from benchmarks import cases, report, stages
    from benchmarks.requests import Client, Server

    server = Server()
    write("\n".join(report.heading()))
    for comparison in cases.cases(server, tool_counts):
        if not names or any(fnmatch(comparison.name, name) for name in names):
            write(report.line(comparison.run(server, rounds)))
    profiles = {
        comparison.name: stages.extra_calls_by_stage(server, comparison)
        for comparison in cases.everyday(Client.of("alice"))
    }
    write(
        "\n".join(
            [
                "\nFunction calls that the plain request does not make, by stage:\n",
                *report.profile(profiles, stages.ROWS),
            ]
        )
    )


def write(line: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
