"""What commands refuse."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError

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
        names = {other.casefold(): other for other in known}
        nearest = difflib.get_close_matches(name[:64].casefold(), names, n=3)
        hint = f" Choose from {', '.join(names.values())}." if complete else ""
        if nearest:
            hint = f" Did you mean {' or '.join(names[other] for other in nearest)}?"
        return cls(f"There is no {noun} {name[:128]!r}.{hint}")
