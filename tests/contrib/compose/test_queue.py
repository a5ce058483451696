"""Each owner has a part of the interpreters, and a turn."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from drf_mcp.access.limits import LimitReached
from drf_mcp.contrib.compose.sandbox import ProgramQueue
from drf_mcp.exceptions import Unavailable

LIMITS = {"processes": 4, "waiting": 5}


@pytest.fixture
def queue(configure):
    """A queue for programs, of which one owner runs at most two."""
    configure(MAX_PROGRAMS=2)
    return ProgramQueue()


@pytest.fixture
def hold(queue):
    """Run a program of an owner until the test ends: ``hold("ann")``."""
    ended = threading.Event()

    def run(owner):
        with queue.waiting(owner, LIMITS):
            ended.wait(10)

    with ThreadPoolExecutor(20) as pool:
        try:
            yield lambda owner: pool.submit(run, owner)
        finally:
            ended.set()


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_programs_without_end_of_one_owner_leave_room_for_others(queue, hold):
    for _ in range(4):
        hold("ann")
    wait_until(lambda: queue.running["ann"] == 2 and len(queue.tickets) == 2)
    started = time.monotonic()
    with queue.waiting("bob", LIMITS):
        assert time.monotonic() - started < 5
    assert queue.running["ann"] == 2


def test_an_owner_for_whom_as_many_wait_as_may_run_is_refused_at_once(queue, hold):
    for _ in range(4):
        hold("ann")
    wait_until(lambda: len(queue.tickets) == 2)
    with pytest.raises(LimitReached, match="2 programs of yours are running"):
        queue.waiting("ann", LIMITS).__enter__()


def test_the_owner_with_the_fewest_programs_is_next(queue):
    order = []

    def run(owner):
        with queue.waiting(owner, {"processes": 2, "waiting": 5}):
            order.append(owner)

    with ThreadPoolExecutor(4) as pool:
        first, second = (queue.waiting(owner, LIMITS) for owner in ("ann", "cid"))
        first.__enter__()
        second.__enter__()
        pool.submit(run, "ann")
        wait_until(lambda: len(queue.tickets) == 1)
        pool.submit(run, "bob")
        wait_until(lambda: len(queue.tickets) == 2)
        second.__exit__(None, None, None)
        wait_until(lambda: len(order) == 2)
        first.__exit__(None, None, None)
    assert order == ["bob", "ann"]


def test_a_turn_that_does_not_come_in_time_is_said(queue, hold):
    for owner in ("ann", "bob", "cid", "dan"):
        hold(owner)
    wait_until(lambda: queue.running.total() == 4)
    with pytest.raises(Unavailable, match="Too many programs are running"):
        queue.waiting("eve", {"processes": 4, "waiting": 0.1}).__enter__()
