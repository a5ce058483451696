"""What one caller may ask for or hold: every bound is a setting whose kind is `Bound`.

docs/settings.md has the bounds. A bound of a list in the arguments refuses the call before anything
in the list is looked up. A bound of what is kept counts the rows of their holder (`find_holder`):
make the row, then count (`refuse_beyond`), and delete the row where it is one too many, so that
calls at the same time do not pass the bound together. `held` counts what this process holds.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from rest_framework.exceptions import Throttled
from rest_framework.throttling import BaseThrottle

from drf_mcp.access.scopes import make_machine_key, make_user_key
from drf_mcp.settings import mcp_settings, say_bound

# Returns the address of a request as REST framework's throttles see it.
find_address = BaseThrottle().get_ident


class LimitReached(Throttled):
    """The caller holds as much as one may (HTTP 429).

    Args:
        name: the setting of the bound.
        wait: the seconds until there is room, None where the owner has to make it.
    """

    def __init__(self, name: str, wait: float | None = None) -> None:
        super().__init__(wait, say_bound(name))
        self.name = name


def find_holder(user: Any, auth: Any, request: Any) -> str:
    """Return whom bounds count, as a hash: a user, a machine's credential, else an address.

    The tenant is no part of it, since an unchecked header may choose the tenant.
    """
    key = make_user_key(user) or make_machine_key(user, auth, request)
    # A worker that makes a machine's call has no credential of it.
    key = key or getattr(request, "mcp_principal", "") or f"address {find_address(request)}"
    return hashlib.sha256(key.encode()).hexdigest()


def refuse_beyond(name: str, count: int) -> None:
    """Raise `LimitReached` if there are more than a bound lets a caller have."""
    if count > getattr(mcp_settings, name):
        raise LimitReached(name)


class Held:
    """Counts what each caller holds in this process, such as streams and running programs."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()

    def take(self, name: str, holder: str) -> Callable[[], None]:
        """Count one more, and return the function that gives it back, to be called once.

        Raises:
            LimitReached: if the caller holds as many as the bound `name` lets one hold.
        """
        with self.lock:
            refuse_beyond(name, self.counts[name, holder] + 1)
            self.counts[name, holder] += 1
        return partial(self._give_back, name, holder)

    def _give_back(self, name: str, holder: str) -> None:
        with self.lock:
            self.counts[name, holder] -= 1
            if not self.counts[name, holder]:
                del self.counts[name, holder]


held = Held()
