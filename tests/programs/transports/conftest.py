"""A seeded shop with its own database file, and servers of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.programs.interop.conftest import node_modules  # noqa: F401
from tests.programs.interop.servers import Shop
from tests.programs.transports.processes import Process, started


@pytest.fixture(scope="session")
def shop(tmp_path_factory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("shop") / "shop.sqlite3")
    shop.seed()
    return shop


@pytest.fixture
def serve(shop, tmp_path) -> Callable[..., Process]:
    """Start a server: ``serve(\"--as\", \"alice\", MCP_TOKEN=\"...\")``."""
    with ExitStack() as stack:

        def start(
            *arguments: str, settings: str = shop.settings, first=(), **environment
        ) -> Process:
            served = replace(shop, settings=settings)
            log = tmp_path / "stderr.log"
            server = started(served, log, *arguments, environment=environment, first=first)
            return stack.enter_context(server)

        yield start


@pytest.fixture
def noisy(serve, tmp_path) -> Process:
    return serve(
        settings="tests.programs.transports.noisy_settings",
        FLAGS=str(tmp_path),
        PYTHONUNBUFFERED="",
    )


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
