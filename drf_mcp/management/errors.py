"""What commands refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.option_types.spelling import ask_nearest, find_nearest

# The exit code of a command that could not do what it was asked.
USAGE = 2
UNKNOWN: Mapping[str, str] = {
    "user": gettext_noop("There is no user %(name)r."),
    "client": gettext_noop("There is no client %(name)r."),
    "envelope": gettext_noop("There is no envelope %(name)r."),
    "token": gettext_noop("There is no token %(name)r."),
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
        sentences = [_(UNKNOWN[noun]) % {"name": name[:128]}]
        if nearest:
            sentences.append(ask_nearest(nearest))
        elif complete:
            listed = ", ".join(known)
            sentences.append(_("Choose from %(names)s.") % {"names": listed})
        return cls(" ".join(sentences))
