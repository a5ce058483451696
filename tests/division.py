"""Which tests are quick, and how pytest-xdist divides all tests among its workers."""

from __future__ import annotations

import random
import subprocess
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Folders of tests that start servers, browsers and interpreters, or need more than a developer's
# machine has. Each has a target in the Makefile; pytest runs one only if it is named.
APART = ("programs", "projects", "documentation", "services")
# Folders whose modules share servers and browsers, so that one worker starts them for all.
TOGETHER = tuple(
    f"tests/programs/{name}/" for name in ("browser", "interop", "packaging", "transports")
)


def put_slow_modules_first(items: list[pytest.Item]) -> None:
    """Put the modules with slow tests first: a slow one at the end keeps every worker waiting."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def mark_variants(items: list[pytest.Item], seed: int) -> None:
    """Mark all variants but one of each test with parameters; the seed chooses the one."""
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
    """Lets only tests in the folders of `APART` start programs, so that the others stay quick."""

    def __init__(self) -> None:
        self.test = ""
        self.allowed = True
        self.start = subprocess.Popen.__init__

    def enter(self, item: pytest.Item) -> None:
        """Begin a test."""
        self.test = item.nodeid
        self.allowed = not set(APART).isdisjoint(item.path.parts)

    def watch(self) -> None:
        """Check each start of a program."""

        def start(process: Any, *args: Any, **kwargs: Any) -> None:
            assert self.allowed, f"{self.test} starts a program: move it to tests/programs"
            self.start(process, *args, **kwargs)

        subprocess.Popen.__init__ = start


class Division(LoadScopeScheduling):
    """Gives each module to one worker, so that the fixtures of a module are made once.

    Modules run in the order of their collection.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        """Return the scope of a test: its folder in `TOGETHER`, or its module."""
        module = nodeid.partition("::")[0]
        return next((folder for folder in TOGETHER if module.startswith(folder)), module)
