"""Two writers with the same version: on PostgreSQL the row is locked, and one writer waits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone

from drf_mcp.contrib.writes.versions import Precondition
from tests.contrib.writes.stale.test_versions import UPDATE, version_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no locks of rows")
def test_of_two_writers_with_one_version_the_second_waits_and_is_refused(agent_at, monkeypatch):
    user = User.objects.create(username="anne", last_login=timezone.now())
    agent = agent_at()
    seen = version_of(agent, user)
    compare = Precondition.matches

    def write(name: str) -> str:
        try:
            sent = {"pk": user.pk, "first_name": name, "if_match": seen}
            return "" if not (result := agent.call(UPDATE, **sent)).is_error else result.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor() as pool:

        def compare_during_another_write(self, sent, row) -> bool:
            monkeypatch.setattr(Precondition, "matches", compare)
            others.append(pool.submit(write, "Second"))
            # The other writer waits for the lock.
            assert not wait(others, timeout=0.3).done
            return compare(self, sent, row)

        others: list = []
        monkeypatch.setattr(Precondition, "matches", compare_during_another_write)
        assert write("First") == ""
        assert others[0].result(timeout=10) == "CONFLICT"
    assert User.objects.get(pk=user.pk).first_name == "First"


def test_the_row_is_locked_in_the_transaction_of_the_write(agent_at, monkeypatch):
    user = User.objects.create(username="anne", last_login=timezone.now())
    agent = agent_at()
    seen = version_of(agent, user)
    inside = []
    compare = Precondition.matches
    monkeypatch.setattr(
        Precondition,
        "matches",
        lambda *args: inside.append(connection.in_atomic_block) or compare(*args),
    )
    assert not agent.call(UPDATE, pk=user.pk, first_name="Ann", if_match=seen).is_error
    assert inside == [True]
