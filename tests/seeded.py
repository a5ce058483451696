"""The rows of the example shop in the test database."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from pytest_django.plugin import blocking_manager_key


class SeededShop:
    """Fills the shop again after tests that commit, because these leave every table empty."""

    def __init__(self) -> None:
        self.is_gone = False

    def enter(self, item: pytest.Item) -> None:
        """Begin a test."""
        if commits(item):
            self.is_gone = True
        elif self.is_gone:
            with item.config.stash[blocking_manager_key].unblock():
                # The flush resets sequences, so that the rows get the same keys.
                call_command("flush", verbosity=0, interactive=False)
                call_command("seed", verbosity=0)
            self.is_gone = False


def commits(item: pytest.Item) -> bool:
    """Return whether pytest-django empties the database after a test instead of rolling back."""
    marker = item.get_closest_marker("django_db")
    is_marked = marker is not None and bool(marker.kwargs.get("transaction"))
    return is_marked or not {"transactional_db", "live_server"}.isdisjoint(item.fixturenames)
