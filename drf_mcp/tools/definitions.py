"""Lists of definitions as JSON, joined once for all callers who see the same tools."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

# Of a process. A list of a thousand tools has some two million.
MOST_BYTES = 32 * 1024 * 1024


class Definitions:
    """The lists that were asked for last."""

    def __init__(self) -> None:
        self.joined: OrderedDict[Hashable, bytes] = OrderedDict()
        self.size = 0
        self.lock = threading.Lock()

    def find(self, key: Hashable) -> bytes | None:
        """Return what is kept under a key, None if nothing is."""
        with self.lock:
            joined = self.joined.get(key)
            if joined is not None:
                self.joined.move_to_end(key)
            return joined

    def keep(self, key: Hashable, joined: bytes) -> None:
        """Keep a list, and let go of those that were not asked for."""
        with self.lock:
            self.size += len(joined) - len(self.joined.pop(key, b""))
            self.joined[key] = joined
            while self.size > MOST_BYTES:
                self.size -= len(self.joined.popitem(last=False)[1])


DEFINITIONS = Definitions()
