"""Load from many clients, during faults and for a long time."""

from __future__ import annotations

import os
import signal
import time

from tests.services.client import FAULTS, INTERNAL_ERROR
from tests.services.report import Tally
from tests.services.traffic import Traffic

CLIENTS = 64
# Megabytes that all six workers together may gain: the first use of a thread needs memory.
GROWTH = 24.0


def test_a_load_of_64_clients_with_two_kinds_of_fault(machines, report, is_full):
    """Workers are killed and PostgreSQL is restarted: no answer is wrong, no write is lost."""
    seconds = 60 if is_full else 15
    line = Tally(f"{CLIENTS} clients for {seconds} s: kill -9 twice, PostgreSQL restarted")
    report.tallies.append(line)
    with Traffic(machines, CLIENTS, line) as traffic:
        for site in machines.sites.values():
            time.sleep(seconds / 6)
            os.kill(site.workers[-1], signal.SIGKILL)
        time.sleep(seconds / 6)
        machines.postgresql.stop()
        time.sleep(1)
        machines.postgresql.start()
        traffic.end_fault()
        time.sleep(seconds / 2)
    assert line.wrong == []
    assert line.errors.keys() <= {"connection lost", str(INTERNAL_ERROR), *FAULTS}
    assert line.right > line.errors.total()


def test_the_memory_of_workers_does_not_grow_with_calls(machines, report, is_full):
    every = 20_000 if is_full else 2_000
    line = Tally(f"{every:,} calls")
    # The first call of each thread needs memory that the thread keeps.
    warm = 500
    seen = []
    with Traffic(machines, 8, line):
        for share in (0, 0.25, 0.5, 0.75, 1):
            while line.calls < warm + every * share:
                time.sleep(0.05)
                assert line.wrong == []
            seen.append(sum(site.memory for site in machines.sites.values()))
    report.figures.append(
        (
            f"Memory of 6 workers before, and at each quarter of {every:,} calls",
            ", ".join(f"{m:.0f} MB" for m in seen),
        )
    )
    assert dict(line.errors) == {}
    # Threads and connections that start under load need the memory of the first quarter.
    assert seen[-1] - seen[1] < GROWTH
