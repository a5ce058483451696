"""The figures of all lists, as a table."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.agents.faults import MENDED, SILENT, UNMENDED
from benchmarks.agents.judge import Findings
from benchmarks.agents.tokens import Tokens


def make_table(every: Sequence[Findings], tokens: Tokens) -> Iterator[str]:
    """Yield the lines of a Markdown table, with a column for each list."""
    columns = [dict(find_figures(each, find_common(every, each), tokens)) for each in every]
    yield f"Tokens counted by {tokens.encoder}."
    yield ""
    yield make_row("", *(f"{each.project.name}: {each.package}" for each in every))
    yield f"|---|{'--:|' * len(every)}"
    for title in columns[0]:
        yield make_row(title, *(column[title] for column in columns))


def make_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def find_common(every: Sequence[Findings], findings: Findings) -> set[str]:
    """Return the tasks that were done with each list of a project."""
    done = [each.done for each in every if each.project == findings.project]
    return set.intersection(*done)


def find_figures(findings: Findings, common: set[str], tokens: Tokens) -> Iterator[tuple[str, str]]:
    """Yield the title of each row, and its cell.

    Args:
        findings: the findings about a list.
        common: the tasks whose tokens are counted.
        tokens: counts tokens.
    """
    places = [place for _, _, place, _ in findings.places]
    ends = [verdict.end for verdict in findings.verdicts]
    errors = [verdict.error for verdict in findings.verdicts if verdict.error]
    read = [
        text
        for reading in findings.readings
        if reading.task["task"] in common
        for text in reading.texts
    ]
    shown, wire = tokens.count_all([findings.shown, findings.wire])
    sizes = tokens.count_all(errors)
    found = [sum(place <= most for place in places) for most in (1, 5)]
    accepted = sum(attempt.accepted for attempt in findings.attempts)
    task_tokens = sum(tokens.count_all(read))
    yield "tools in the list", str(len(findings.page["tools"]))
    yield "list tokens a model sees", str(shown)
    yield "list tokens on the wire", str(wire)
    yield "right tool first / among five", f"{found[0]} / {found[1]} of {len(places)}"
    yield "first attempts accepted", f"{accepted} of {len(findings.attempts)}"
    yield "faults mended at the first retry", f"{ends.count(MENDED)} of {len(ends)}"
    yield "faults refused but not mended", str(ends.count(UNMENDED))
    yield "faults silently wrong", str(ends.count(SILENT))
    yield "tokens an error, median", str(int(statistics.median(sizes)) if sizes else 0)
    yield "tasks done", f"{len(findings.done)} of {len(findings.readings)}"
    yield "tokens read a task", str(task_tokens // max(len(common), 1))
    yield "entries that not every list can be asked", str(findings.left_out)
