"""The figures as a table, and each failure as a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.agents.faults import MENDED
from benchmarks.agents.judge import Findings

ROWS = (
    ("tools in the list", "{tools}"),
    ("list tokens a model sees", "{list_tokens}"),
    ("list tokens on the wire", "{wire_tokens}"),
    ("right tool at the top / among five", "{right_tool_at_the_top} / {right_tool_among_five}"),
    ("of questions", "{questions}"),
    ("first attempts accepted", "{attempts_accepted} of {attempts}"),
    ("faults mended at the first retry", "{mended} of {faults}"),
    ("faults refused but not mended", "{not_mended}"),
    ("faults silently wrong", "{silently_wrong}"),
    ("tokens an error, median", "{error_tokens_median}"),
    ("tokens read in all tasks", "{task_tokens}"),
    ("tasks (failed)", "{tasks} ({tasks_failed})"),
)


def make_table(all_findings: Sequence[Findings], encoder: str) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"Tokens counted by {encoder}."
    yield ""
    yield make_row("", *(findings.project.name for findings in all_findings))
    yield f"|---|{'--:|' * len(all_findings)}"
    for title, form in ROWS:
        yield make_row(title, *(form.format(**each.figures) for each in all_findings))


def make_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def describe_findings(findings: Findings) -> Iterator[str]:
    """Yield one line for each failure in a project."""
    for question, right, place, top in findings.places:
        if place > 1:
            yield f"found at {place}: {question} ({right[0]}; at the top: {top})"
    for attempt in findings.attempts:
        if not attempt.accepted:
            yield f"attempt refused: {attempt.tool} {attempt.arguments}: {attempt.refusal}"
    for tool, reason in findings.left_out.items():
        yield f"no attempt: {tool}: {reason}"
    for verdict in findings.verdicts:
        if verdict.end != MENDED:
            fault = verdict.fault
            yield f"{verdict.end}: {fault['tool']} {fault['arguments']}; {verdict.step}"
    for reading in findings.readings:
        if reading.failure:
            yield f"task failed: {reading.task['task']}: {reading.failure}"


def make_json(findings: Findings) -> dict[str, Any]:
    """Return everything about a project as JSON."""
    return {
        "project": findings.project.name,
        "package": findings.package,
        "left_out": findings.entries.left_out,
        "figures": findings.figures,
        "questions": [
            {"question": question, "right": right, "place": place, "top": top}
            for question, right, place, top in findings.places
        ],
        "tools_without_attempts": findings.left_out,
        "refused_attempts": [
            {"tool": each.tool, "arguments": each.arguments, "refusal": each.refusal}
            for each in findings.attempts
            if not each.accepted
        ],
        "faults": [
            {"fault": each.fault, "end": each.end, "step": each.step, "error": each.error}
            for each in findings.verdicts
        ],
        "tasks": [
            {
                "task": each.task["task"],
                "texts": each.texts,
                "tokens": findings.task_tokens[each.task["task"]],
                "failure": each.failure,
            }
            for each in findings.readings
        ],
    }
