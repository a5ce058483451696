"""Load from many clients, during faults."""

from __future__ import annotations

import os
import signal
import time

from tests.services.client import FAULTS, INTERNAL_ERROR
from tests.services.traffic import Tally, Traffic

CLIENTS, SECONDS = 64, 15
# Megabytes that all six workers together may gain after the first half.
GROWTH = 24.0


def test_a_load_of_64_clients_with_two_kinds_of_fault(machines):
    """Workers are killed and PostgreSQL is restarted: no answer is wrong, no write is lost."""
    tally = Tally()
    with Traffic(machines, CLIENTS, tally):
        for site in machines.sites.values():
            time.sleep(SECONDS / 6)
            os.kill(site.workers[-1], signal.SIGKILL)
        time.sleep(SECONDS / 6)
        machines.postgresql.stop()
        time.sleep(1)
        machines.postgresql.start()
        time.sleep(SECONDS / 2)
    assert tally.wrong == []
    assert tally.errors.keys() <= {"connection lost", str(INTERNAL_ERROR), *FAULTS}
    assert tally.right > tally.errors.total()


def test_the_memory_of_workers_does_not_grow_with_calls(machines):
    tally, seen = Tally(), []
    with Traffic(machines, 8, tally):
        # The first calls of each thread need memory that the thread keeps.
        for calls in (1_000, 2_500):
            while tally.right < calls:
                time.sleep(0.05)
                assert tally.wrong == []
            seen.append(sum(site.memory for site in machines.sites.values()))
    assert dict(tally.errors) == {}
    assert seen[1] - seen[0] < GROWTH
