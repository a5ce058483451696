"""``python -m benchmarks.agents``: how well an agent works from a list of tools and its errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from benchmarks.agents.tokens import Tokens


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure in a database in memory; return 1 where our list does what it may not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("--attempts", type=int, default=5, help="first attempts of each tool")
    parser.add_argument("--every", type=int, default=1, help="score each EVERY-th fault and task")
    parser.add_argument("--details", action="store_true", help="print each failure")
    parser.add_argument("--project", help="score only this project")
    parser.add_argument("--compare", action="store_true", help="score FastMCP too")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--search", action="store_true", help="score only tools_search")
    only.add_argument("--ways", action="store_true", help="do only tasks of several steps")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.agents.settings"
    django.setup()
    fill_database()
    faults: list[str] = []
    for line in measure(asked, faults):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return int(bool(faults))


def fill_database() -> None:
    from django.core.management import call_command

    from benchmarks.__main__ import seed
    from benchmarks.agents.domains.seeding import seed_domains
    from benchmarks.agents.loans.seeding import seed_loans

    seed()
    # Creates the tables of apps without migrations.
    call_command("migrate", run_syncdb=True, verbosity=0)
    seed_loans()
    seed_domains()


def measure(asked: argparse.Namespace, faults: list[str]) -> Iterator[str]:
    """Yield the lines of what was asked for, and add what our list may not do to ``faults``."""
    from benchmarks.agents import finding, ways
    from benchmarks.agents.tokens import Tokens

    tokens = Tokens()
    if asked.search:
        yield from finding.measure(tokens, asked.details)
    elif asked.ways:
        yield from ways.make_lines(ways.do_all(asked.compare), tokens)
    else:
        yield from judge(asked, tokens, faults)


def judge(asked: argparse.Namespace, tokens: Tokens, faults: list[str]) -> Iterator[str]:
    from benchmarks.agents.judge import judge_all
    from benchmarks.agents.projects import Endpoint, find_projects
    from benchmarks.agents.report import make_table

    projects = find_projects(asked.project)
    every = list(judge_all(asked.attempts, asked.every, projects, asked.compare))
    yield from make_table(every, tokens)
    for each in every if asked.details else ():
        yield f"\n{each.project.name}, {each.package}:"
        yield from each.describe()
    for each in every:
        if each.package == Endpoint.package:
            faults += [f"{each.project.name}: {fault}" for fault in each.find_faults()]
    yield from ["", *faults]


if __name__ == "__main__":
    sys.exit(main())
