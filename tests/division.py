"""Which tests are quick, and how all are divided among the workers of pytest-xdist."""

from __future__ import annotations

import random
import subprocess
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Folders of tests that start servers, browsers and interpreters, or need more than a desk has. Each
# has a target in the Makefile; pytest runs one only when it is named.
APART = ("programs", "projects", "documentation", "services")
# Folders whose modules share servers and browsers, which one worker therefore starts for all.
TOGETHER = tuple(
    f"tests/programs/{name}/" for name in ("browser", "interop", "packaging", "transports")
)


def may_start_programs(item: pytest.Item) -> bool:
    """Return whether a test is in one of the folders apart."""
    return not set(APART).isdisjoint(item.path.parts)


def is_slow(item: pytest.Item) -> bool:
    """Return whether a test is marked as slow."""
    return item.get_closest_marker("slow") is not None


def put_slow_ones_first(items: list[pytest.Item]) -> None:
    """Put the modules with slow tests first: whoever comes last to one keeps all waiting."""
    slow = {item.path for item in items if is_slow(item)}
    items.sort(key=lambda item: item.path not in slow)


def mark_variants(items: list[pytest.Item], seed: int) -> None:
    """Mark of each test with parameters all variants but one, another one with each seed."""
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        variants.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chance = random.Random(seed)
    for of_one_test in variants.values():
        chosen = chance.choice(of_one_test)
        for item in of_one_test:
            if item is not chosen:
                item.add_marker("variant")


class Programs:
    """Lets tests start programs only in the folders apart, so that the others stay quick."""

    def __init__(self) -> None:
        self.test = ""
        self.allowed = True
        self.start = subprocess.Popen.__init__

    def enter(self, item: pytest.Item) -> None:
        """Begin with a test."""
        self.test, self.allowed = item.nodeid, may_start_programs(item)

    def watch(self) -> None:
        """Hear of each program that is started."""

        def start(process: Any, *args: Any, **kwargs: Any) -> None:
            assert self.allowed, f"{self.test} starts a program: move it to tests/programs"
            self.start(process, *args, **kwargs)

        subprocess.Popen.__init__ = start


class Division(LoadScopeScheduling):
    """Gives a module to one worker, so that what its tests share is made once.

    The modules are handed out in the order in which they were collected.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        """Return what a test is run with: its room or its module."""
        module = nodeid.partition("::")[0]
        return next((room for room in TOGETHER if module.startswith(room)), module)
