"""The table of the results, as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version

from benchmarks.comparing import Cost, Figures

HEADINGS = (
    ("", 52),
    ("SQL", 7),
    ("calls", 7),
    ("of", 7),
    ("calls, ratio", 12),
    ("ms", 8),
    ("of", 8),
    ("time, ratio", 12),
    ("median", 8),
)


def heading() -> Iterator[str]:
    """Yield the first lines: the machine, and the columns."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("Django", "djangorestframework"))
    yield f"{processor()}, Python {platform.python_version()}, {packages}\n"
    yield row(name for name, _ in HEADINGS)
    yield row(("-" * width for _, width in HEADINGS), fill="-")


def line(figures: Figures) -> str:
    """Return the row of a comparison."""
    plain, measured = figures.plain, figures.measured
    return row(
        (
            figures.name,
            statements(plain, measured),
            str(measured.calls),
            str(plain.calls),
            ratio(figures.calls),
            f"{min(measured.seconds) * 1000:.2f}",
            f"{min(plain.seconds) * 1000:.2f}",
            ratio(figures.fastest),
            ratio(figures.median),
        )
    )


def profile(columns: Mapping[str, Mapping[str, int]], stages: Iterable[str]) -> Iterator[str]:
    """Yield the table of the calls in each stage, with a column for each comparison."""
    heads = ("", *columns)
    sums = {name: sum(counts.values()) for name, counts in columns.items()}
    rows = [(stage, *(str(counts[stage]) for counts in columns.values())) for stage in stages]
    for cells in (heads, *rows, ("in all", *map(str, sums.values()))):
        first, *others = cells
        aligned = (cell.rjust(len(head)) for cell, head in zip(others, heads[1:], strict=True))
        yield f"| {first.ljust(24)} | {' | '.join(aligned)} |"


def row(cells: Iterator[str] | tuple[str, ...], fill: str = " ") -> str:
    """Return a row of the table, names to the left and figures to the right."""
    aligned = [
        cell.ljust(width, fill) if width > 50 else cell.rjust(width, fill)
        for cell, (_, width) in zip(cells, HEADINGS, strict=True)
    ]
    return f"| {' | '.join(aligned)} |"


def statements(plain: Cost, measured: Cost) -> str:
    """Return the number of SQL statements, or both numbers if they differ."""
    if measured.statements == plain.statements:
        return str(measured.statements)
    return f"{measured.statements} of {plain.statements}"


def ratio(value: float) -> str:
    """Return a ratio with its significant digits."""
    return f"{value:.3f}" if value < 10 else f"{value:.0f}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
            return next(names).strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
