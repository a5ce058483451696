"""Whose program runs next: each owner has a part of the interpreters, and a turn."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from drf_mcp.exceptions import Unavailable
from drf_mcp.features import LimitReached, mcp_settings


class ProgramQueue:
    """Running and waiting programs of this process.

    The next one is of the owner who has the fewest running, and of these the first. An owner who
    has as many running as one may lets others pass.
    """

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.running: Counter[str] = Counter()
        # By a ticket, in the order in which they came: the owner.
        self.tickets: dict[object, str] = {}

    @contextmanager
    def waiting(self, owner: str, limits: Mapping[str, int]) -> Iterator[None]:
        """Run a block when it is the owner's turn.

        Raises:
            LimitReached: if as many of the owner wait as may run, or these do not end in time.
            Unavailable: if programs of others do not end in time.
        """
        own, every = mcp_settings.MAX_PROGRAMS, limits["processes"]
        ticket = object()
        with self.condition:
            if list(self.tickets.values()).count(owner) >= own:
                raise LimitReached("MAX_PROGRAMS")
            self.tickets[ticket] = owner
            try:
                comes = self.condition.wait_for(
                    lambda: self._find_next(own, every) is ticket, limits["waiting"]
                )
                if not comes:
                    if self.running[owner] >= own:
                        raise LimitReached("MAX_PROGRAMS")
                    raise Unavailable("Too many programs are running.")
                self.running[owner] += 1
            finally:
                del self.tickets[ticket]
                self.condition.notify_all()
        try:
            yield
        finally:
            with self.condition:
                self.running -= Counter([owner])
                self.condition.notify_all()

    def _find_next(self, own: int, every: int) -> object | None:
        if self.running.total() >= every:
            return None
        able = [each for each, owner in self.tickets.items() if self.running[owner] < own]
        return min(able, key=lambda each: self.running[self.tickets[each]], default=None)
