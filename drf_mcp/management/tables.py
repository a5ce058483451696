from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

GAP = "  "


class Table:
    """Rows of texts in columns; where they are wider than the screen, a line for each cell.

    Args:
        columns: the headings.
        width: how many characters a line of the screen has.
    """

    def __init__(self, columns: Sequence[str], width: int) -> None:
        self.columns = columns
        self.width = width

    def list_rows(self, rows: Iterable[Sequence[str]]) -> Iterator[str]:
        """Yield the lines of the rows, each as long as `columns`."""
        lines = [self.columns, *rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        if sum(widths) + len(GAP) * (len(widths) - 1) <= self.width:
            for line in lines:
                cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
                yield GAP.join(cells).rstrip()
            return
        for row in lines[1:]:
            yield from self.list_cells(row)

    def list_cells(self, row: Sequence[str]) -> Iterator[str]:
        yield row[0]
        names = max(map(len, self.columns[1:]))
        room = self.width - len(GAP) * 2 - names
        for name, cell in zip(self.columns[1:], row[1:], strict=True):
            first, *others = [cell[i : i + room] for i in range(0, len(cell), room)] or [""]
            yield f"{GAP}{name.ljust(names)}{GAP}{first}".rstrip()
            yield from (f"{GAP}{'':<{names}}{GAP}{other}" for other in others)
