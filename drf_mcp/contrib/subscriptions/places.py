"""How many streams a caller keeps open in a process."""

from __future__ import annotations

import threading
import weakref
from collections import Counter

from django.utils.translation import gettext as _

from drf_mcp.exceptions import Refused


class Places:
    """Counts the open streams of each owner."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.lock = threading.Lock()

    def take(self, owner: str, most: int) -> Place:
        """Return a place for one more stream.

        Raises:
            Refused: if the owner has as many streams as they may have (HTTP 429).
        """
        with self.lock:
            if self.taken[owner] >= most:
                text = _("%(count)d streams of yours are open. End one of them, then listen again.")
                raise Refused(429, text % {"count": most})
            self.taken[owner] += 1
        return Place(self, owner)

    def free(self, owner: str) -> None:
        with self.lock:
            self.taken[owner] -= 1
            if not self.taken[owner]:
                del self.taken[owner]


class Place:
    """The place of one stream, which is free again once the stream ends or was never read."""

    def __init__(self, places: Places, owner: str) -> None:
        self.free = weakref.finalize(self, places.free, owner)


STREAMS = Places()
