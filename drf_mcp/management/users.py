"""On whose behalf a command works."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

# The exit code of a command that could not do what it was asked.
USAGE = 2
ANONYMOUS = "anonymous"


def user_of(username: str | None) -> Any:
    """Return the user of that name, by ``USERNAME_FIELD``; None for no name.

    Raises:
        CommandError: if there is none.
    """
    if username is None:
        return None
    users = get_user_model()
    try:
        return users._default_manager.get_by_natural_key(username)
    except users.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.", returncode=USAGE) from None


def user_or_nobody(username: str) -> Any:
    """Return the user of that name; None for ``anonymous``, unless a user is called that.

    Raises:
        CommandError: if there is none.
    """
    try:
        return user_of(username)
    except CommandError:
        if username == ANONYMOUS:
            return None
        raise
