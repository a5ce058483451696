"""``python -m benchmarks.listing``: measure lists of many tools for many callers in one table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import django

from benchmarks.__main__ import seed, write

HEADING = """
| permissions | tools | bytes | calls | of | ratio | SQL | of | ms | of | first: calls | SQL | ms |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure in a database in memory, which is created, filled and dropped."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.listing", description=__doc__)
    parser.add_argument("--tools", default="44,300,1000,1700", help="tools of the projects")
    parser.add_argument("--callers", type=int, default=50, help="the number of users")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    seed()
    from benchmarks.listing.projects import ASKED_ANEW, PERMISSIONS, Project

    write(HEADING)
    for tools in map(int, asked.tools.split(",")):
        for name in PERMISSIONS:
            # Permissions that every list asks cost each caller the same.
            callers = asked.callers if name != ASKED_ANEW else min(asked.callers, 3)
            write(Project(name, tools).measure(callers).row)


if __name__ == "__main__":
    main()
