"""The results of the calls during each fault, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

COLUMNS = ("Fault", "Calls", "Right", "Right errors", "Wrong", "Right again after")


@dataclass
class Tally:
    """The calls during one fault.

    Attributes:
        fault: the name of the fault.
        right: the number of correct answers.
        errors: the number of correct errors by code.
        wrong: the other answers.
        recovered: seconds from the end of the fault to the last failed call, None if it was not
            measured.
    """

    fault: str
    right: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    recovered: float | None = None

    @property
    def calls(self) -> int:
        return self.right + self.errors.total() + len(self.wrong)

    @property
    def cells(self) -> tuple[str, ...]:
        errors = ", ".join(f"{count} {code}" for code, count in self.errors.most_common())
        recovered = "" if self.recovered is None else f"{self.recovered:.1f} s"
        counts = (f"{self.calls:,}", f"{self.right:,}", errors or "0", str(len(self.wrong)))
        return (self.fault, *counts, recovered)


@dataclass
class Report:
    """The faults and the other figures of one run."""

    tallies: list[Tally] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)

    def get_lines(self) -> Iterator[str]:
        """Yield the lines of a Markdown table, and the figures."""
        if self.tallies:
            rows = [COLUMNS, *(tally.cells for tally in self.tallies)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            rows.insert(1, tuple("-" * width for width in widths))
            for row in rows:
                cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
                yield f"| {' | '.join(cells)} |"
        for name, value in self.figures:
            yield f"{name}: {value}"
