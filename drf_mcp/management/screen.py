"""Lines of text that fit a terminal."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.formats import number_format

from drf_mcp.option_types.spelling import ask_nearest, find_nearest

# The exit code of a command that could not do what it was asked.
USAGE = 2
UNKNOWN: Mapping[str, str] = {
    "user": "There is no user %(name)r.",
    "client": "There is no client %(name)r.",
    "envelope": "There is no envelope %(name)r.",
    "token": "There is no token %(name)r.",
    "rule": "There is no rule %(name)r.",
}


class UsageError(CommandError):
    """A command was given arguments that it cannot use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"returncode": USAGE, **kwargs})

    @classmethod
    def unknown(
        cls, noun: str, name: str, known: Iterable[str], *, complete: bool = False
    ) -> UsageError:
        """Return the error of a name that nothing has, with the nearest names.

        The noun is one of `UNKNOWN`. Where no name is near, a complete list is shown whole.
        """
        known = [*known]
        nearest = find_nearest(name, known, 3)
        sentences = [UNKNOWN[noun] % {"name": name[:128]}]
        if nearest:
            sentences.append(ask_nearest(nearest))
        elif complete:
            listed = ", ".join(known)
            sentences.append(f"Choose from {listed}.")
        return cls(" ".join(sentences))


T = TypeVar("T")

GAP = "  "
# Seconds before the progress is shown, and between two updates.
PATIENCE = 2.0
INTERVAL = 0.2


def _group_digits(number: int) -> str:
    """Return a number with the separators of its reader's language."""
    return number_format(number, force_grouping=True)


def find_local_time(moment: datetime) -> datetime:
    """Return a moment in the current time zone; without USE_TZ it is in that zone already."""
    return timezone.localtime(moment) if timezone.is_aware(moment) else moment


class Screen:
    """A terminal of a width, and a style of Django's for its colours."""

    def __init__(self, width: int, style: Any) -> None:
        self.width = width
        self.style = style

    @staticmethod
    def count_noun(count: int, noun: str) -> str:
        """Return a number with its noun, such as "2 tools"."""
        return f"{count} {noun}{'s' * (count != 1)}"

    def wrap(self, text: str, indent: int = 0) -> Iterator[str]:
        """Yield the lines of a text; unlike textwrap, a path or a dotted name stays whole."""
        line = " " * indent
        for word in text.split():
            if line.strip() and len(line) + len(word) > self.width:
                yield line.rstrip()
                line = " " * indent
            line += f"{word} "
        if line.strip():
            yield line.rstrip()

    def fit(self, text: str, width: int) -> str:
        """Return a text cut to a width, at a comma where it has one."""
        if len(text) <= width:
            return text
        if width < 2:
            return ""
        head, comma, _rest = text[: width - 2].rpartition(",")
        return f"{head}, …" if comma else f"{text[: width - 1]}…"

    def list_table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
        """Yield the lines of a table; where rows are wider than the screen, a line for each cell.

        Args:
            columns: the headings.
            rows: the cells of each row, as many as there are columns.
        """
        lines = [columns, *rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        if sum(widths) + len(GAP) * (len(widths) - 1) <= self.width:
            for line in lines:
                cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
                yield GAP.join(cells).rstrip()
            return
        names = max(map(len, columns[1:]))
        room = self.width - len(GAP) * 2 - names
        for row in lines[1:]:
            yield row[0]
            for name, cell in zip(columns[1:], row[1:], strict=True):
                first, *others = [cell[i : i + room] for i in range(0, len(cell), room)] or [""]
                yield f"{GAP}{name.ljust(names)}{GAP}{first}".rstrip()
                yield from (f"{GAP}{'':<{names}}{GAP}{other}" for other in others)


def show_progress(stream: Any, doing: str, items: Collection[T]) -> Iterator[T]:
    """Yield items, and after two seconds show on a terminal how many of them are done.

    Args:
        stream: the command's stderr; nothing is written unless it is a terminal.
        doing: what is being done, such as "Describing tools".
    """
    if not stream.isatty():
        yield from items
        return
    due = time.monotonic() + PATIENCE
    shown = False

    def write(text: str) -> None:
        # Over the line before.
        stream.write(f"\r\033[K{text}", ending="")
        stream.flush()

    for done, item in enumerate(items):
        if time.monotonic() >= due:
            write(f"{doing}: {_group_digits(done)} of {_group_digits(len(items))}")
            due, shown = time.monotonic() + INTERVAL, True
        yield item
    if shown:
        write("")
