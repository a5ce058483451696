"""Lines of text that fit a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from textwrap import TextWrapper
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from drf_mcp.option_types.spelling import ask_nearest, find_nearest

# The exit code of a command that could not do what it was asked.
USAGE = 2


class UsageError(CommandError):
    """A command was given arguments that it cannot use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"returncode": USAGE, **kwargs})

    @classmethod
    def unknown(
        cls, noun: str, name: str, known: Iterable[str], *, complete: bool = False
    ) -> UsageError:
        """Return the error of a name that nothing has, with the nearest names.

        Where no name is near, a complete list is shown whole.
        """
        known = [*known]
        hint = ask_nearest(find_nearest(name, known, 3))
        if complete and not hint:
            hint = f"Choose from {', '.join(known)}."
        return cls(f"There is no {noun} {name[:128]!r}. {hint}".rstrip())


GAP = "  "


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

    def wrap(self, text: str, indent: int = 0) -> list[str]:
        """Return the lines of a text; a path or a dotted name stays whole."""
        wrapper = TextWrapper(self.width, break_long_words=False, break_on_hyphens=False)
        wrapper.initial_indent = wrapper.subsequent_indent = " " * indent
        return wrapper.wrap(text)

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
