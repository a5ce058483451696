from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Any, TypeVar

from django.utils.formats import number_format
from django.utils.translation import gettext as _

T = TypeVar("T")

# Seconds before there is anything to read, and between two readings.
PATIENCE = 2.0
INTERVAL = 0.2


class ProgressLine:
    """A line on a terminal that says how far work is, once it has taken two seconds.

    Args:
        stream: the command's stderr; nothing is written unless it is a terminal.
        doing: what is being done, such as "Describing tools".
    """

    def __init__(self, stream: Any, doing: str) -> None:
        self.stream = stream
        self.doing = doing

    def watch(self, items: Collection[T]) -> Iterator[T]:
        """Yield the items, and say how many of them are done."""
        if not self.stream.isatty():
            yield from items
            return
        due = time.monotonic() + PATIENCE
        shown = False
        for done, item in enumerate(items):
            if time.monotonic() >= due:
                counts = {"done": done, "total": len(items)}
                facts = {name: number_format(n, force_grouping=True) for name, n in counts.items()}
                facts["doing"] = self.doing
                self.write("\r\033[K" + _("%(doing)s: %(done)s of %(total)s") % facts)
                due, shown = time.monotonic() + INTERVAL, True
            yield item
        if shown:
            self.write("\r\033[K")

    def write(self, text: str) -> None:
        self.stream.write(text, ending="")
        self.stream.flush()
