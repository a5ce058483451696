"""``python -m benchmarks.gate``: compares counts with recorded ones.

It counts the function calls and SQL statements that the plain request does not make, the bytes of
lists, and memory, but no time, which differs between machines. Exits with 1 if a figure is worse
than recorded by more than its tolerance, is missing, or is not recorded, if a call makes more calls
than `MOST_CALLS`, or if processor time stays over the bars of `benchmarks.cpu`.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import django

from benchmarks.__main__ import seed, write
from benchmarks.recorded import Move, Record, Tolerance, find_moves

if TYPE_CHECKING:
    from benchmarks.comparing import Cost
    from benchmarks.requests import Client, Server

PATH = Path(__file__).with_name("recorded.json")
FEW, MANY = 20, 100
CALLERS = 2
UPLOAD = 2_000_000
PACKAGES = ("Django", "djangorestframework")
# Statements have no tolerance.
TOLERANCES = {
    # Bytes differ by the digits of a key or an id.
    "bytes": Tolerance(part=0.001, much=8),
    "calls": Tolerance(part=0.01, much=5),
    "kilobytes": Tolerance(part=0.05),
}
# With another Python, Django or REST framework than those of the record.
OTHER_VERSION_TOLERANCES = {
    "calls": Tolerance(part=0.2, much=100),
    "kilobytes": Tolerance(part=0.2),
    "bytes": Tolerance(part=0.01),
}
# The most extra function calls of everyday calls.
MOST_CALLS = {
    "customers_retrieve": 280,
    "customers_list, 20 rows": 340,
    "customers_create": 330,
    "customers_create, refused": 460,
}
Figures = Mapping[str, Mapping[str, int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure in a database in memory; return 1 if a figure is worse than recorded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate", description=__doc__)
    parser.add_argument("--record", action="store_true", help="record the figures of today")
    asked = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    seed()
    record, found, versions = Record(PATH), dict(measure()), find_versions()
    if asked.record:
        record.write({"versions": versions, "figures": found})
    from benchmarks import cpu
    from benchmarks.requests import Server

    verdicts = [
        compare_with_record(record, found, versions),
        find_calls_over_bars(found),
        cpu.compare_with_bars(Server()),
    ]
    write("\n".join(line for lines, _ in verdicts for line in lines))
    return int(any(fails for _, fails in verdicts))


def find_versions() -> dict[str, str]:
    """Return the versions that function calls depend on, without patch numbers."""
    found = {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {name: ".".join(number.split(".")[:2]) for name, number in found.items()}


def compare_with_record(
    record: Record, found: Figures, versions: Mapping[str, str]
) -> tuple[list[str], bool]:
    """Return the lines of a table of the figures that moved, and whether one of them fails.

    Args:
        record: the recorded figures.
        found: today's figures by subject and name.
        versions: the versions that today's figures were measured with.
    """
    recorded: Figures = record.content.get("figures", {})
    is_elsewhere = record.content.get("versions") != versions
    tolerances = OTHER_VERSION_TOLERANCES if is_elsewhere else TOLERANCES
    moves = [
        (subject, move)
        for subject in dict.fromkeys((*recorded, *found))
        for move in find_moves(recorded.get(subject, {}), found.get(subject, {}), tolerances)
    ]
    lines = list(make_table(moves)) if moves else []
    count = sum(map(len, found.values()))
    failing = sum(move.fails for _, move in moves)
    lines.append(f"{count} figures, {failing} worse or missing, {len(moves) - failing} better.")
    if is_elsewhere:
        lines.append(f"Recorded with {record.content.get('versions')}: calls and bytes may differ.")
    if moves:
        lines.append("If that is intended: python -m benchmarks.gate --record")
    return lines, bool(failing)


def find_calls_over_bars(found: Figures) -> tuple[list[str], bool]:
    """Return a line for each call over its bar, and whether there is one."""
    lines = [
        f"{name} makes {found[name]['calls']} calls, at most {most} are allowed."
        for name, most in MOST_CALLS.items()
        if found[name]["calls"] > most
    ]
    return lines, bool(lines)


def make_table(moves: Sequence[tuple[str, Move]]) -> Iterator[str]:
    yield "| | recorded | found | |"
    yield "|---|--:|--:|---|"
    for subject, move in moves:
        cells = (f"{subject}: {move.name}", move.recorded, move.found, move.verdict)
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def measure() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the figures of each subject, with their names."""
    from benchmarks import cases, stages
    from benchmarks.requests import Client, Server

    server, alice = Server(), Client.of("alice")
    for comparison in cases.cases(server, [FEW]):
        figures = comparison.run(server, rounds=0)
        costs = {"calls": figures.extra_calls, "statements": figures.extra_statements}
        yield comparison.name, costs
    first = next(cases.everyday(alice))
    by_stage = stages.extra_calls_by_stage(server, first)
    yield f"{first.name}, by stage", {f"calls, {name}": by_stage[name] for name in stages.ROWS}
    yield from measure_lists()
    for kind in ("page", "upload"):
        yield f"{kind} of 2 MB", {"kilobytes in use": measure_memory(server, alice, kind)}


def measure_lists() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the cost of a list beyond its bytes, and its growth with the number of tools."""
    from benchmarks.listing.projects import PERMISSIONS, Project

    for name in PERMISSIONS:
        few, many = (Project(name, tools).measure(CALLERS) for tools in (FEW, MANY))
        least = sum_first(few.first)
        yield (
            f"list of {FEW} tools, {name}",
            {
                "bytes": len(few.content),
                "calls of a later list": few.later.calls - few.stored.calls,
                "statements of a later list": few.later.statements - few.stored.statements,
                **least,
            },
        )
        yield (
            f"{MANY - FEW} tools more, {name}",
            {
                "bytes": len(many.content) - len(few.content),
                "calls of a later list": many.later.calls - few.later.calls,
                "statements of a later list": many.later.statements - few.later.statements,
                **{name: sums - least[name] for name, sums in sum_first(many.first).items()},
            },
        )


def sum_first(first: Sequence[Cost]) -> dict[str, int]:
    return {
        "calls of first lists": sum(cost.calls for cost in first),
        "statements of first lists": sum(cost.statements for cost in first),
    }


def measure_memory(server: Server, client: Client, kind: str) -> int:
    """Return the most kilobytes in use during a call with this much content."""
    from django.test import override_settings

    from benchmarks.comparing import kilobytes, warm
    from benchmarks.megabytes import SMALL, make_request, make_settings

    with override_settings(**make_settings("ResponseV2", UPLOAD)):
        server.send(make_request(client, kind, "mcp", SMALL))
        with warm(server, request := make_request(client, kind, "mcp", UPLOAD)):
            found: int = server.measured(request, kilobytes)
    return found


if __name__ == "__main__":
    sys.exit(main())
