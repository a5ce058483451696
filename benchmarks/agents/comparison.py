"""One project, scored with several packages or at several times, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.report import ROWS, make_row

OWN = "drf_mcp"


@dataclass(frozen=True)
class Column:
    """The findings about one list, as JSON.

    Attributes:
        title: the column's heading.
        found: the findings.
    """

    title: str
    found: Mapping[str, Any]

    @property
    def done(self) -> set[str]:
        """The tasks that this list could do."""
        return {task["task"] for task in self.found["tasks"] if not task["failure"]}

    def get_figures(self, tasks: set[str]) -> dict[str, Any]:
        """Return the figures; count tokens only for the given tasks."""
        counted = [task["tokens"] for task in self.found["tasks"] if task["task"] in tasks]
        return {**self.found["figures"], "task_tokens": sum(counted)}


class Comparison:
    """The columns of one project.

    Args:
        project: its name.
        now: the JSON of all findings of this run.
        before: the JSON of all findings of an earlier run, empty for none.
    """

    def __init__(
        self, project: str, now: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]
    ) -> None:
        self.project = project
        earlier = [each for each in before if each["project"] == project and each["package"] == OWN]
        columns = [Column(f"{OWN}, before", each) for each in earlier]
        found = [each for each in now if each["project"] == project]
        self.columns = [*columns, *(Column(each["package"], each) for each in found)]

    def make_table(self) -> Iterator[str]:
        """Yield the lines of a Markdown table; tokens are those of tasks done with every list."""
        common = set.intersection(*(column.done for column in self.columns))
        figures = [column.get_figures(common) for column in self.columns]
        yield make_row(self.project, *(column.title for column in self.columns))
        yield f"|---|{'--:|' * len(self.columns)}"
        for title, form in ROWS:
            shown = (
                f"tokens read in {len(common)} tasks" if title.startswith("tokens read") else title
            )
            yield make_row(shown, *(form.format(**each) for each in figures))
        left_out = self.columns[-1].found["left_out"]
        if left_out:
            yield ""
            yield f"Left out, since not every list can be asked: {left_out}."


def make_tables(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table for each project, from the JSON of a run and of an earlier one."""
    yield f"Tokens counted by {now['encoder']}."
    for project in dict.fromkeys(each["project"] for each in now["projects"]):
        yield ""
        yield from Comparison(project, now["projects"], before.get("projects", ())).make_table()
