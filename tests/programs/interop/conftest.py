"""The example shop on real servers, and Node.js for the clients that need it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.programs.interop.servers import ROOT, RunningServer, Shop, running

# The folder into which ``make node`` installs.
NODE_MODULES = ROOT / ".venv" / "node" / "node_modules"
# If this variable is 1, tests that need Node.js fail without it instead of being skipped.
REQUIRE_NODE = "DRF_MCP_REQUIRE_NODE"


@pytest.fixture(scope="session")
def shop(tmp_path_factory) -> Shop:
    """A seeded shop with its own database file."""
    shop = Shop(tmp_path_factory.mktemp("shop") / "shop.sqlite3")
    shop.seed()
    return shop


@pytest.fixture(scope="session")
def server_of(shop, tmp_path_factory) -> Iterator[Callable[..., RunningServer]]:
    """Servers of the shop, each started at its first use: ``server_of(\"uvicorn\")``."""
    logs = tmp_path_factory.mktemp("logs")
    servers: dict[tuple[str, str], RunningServer] = {}
    with ExitStack() as stack:

        def server(kind: str, settings: str = shop.settings) -> RunningServer:
            key = kind, settings
            if key not in servers:
                log = logs / f"{kind}-{settings}.log"
                served = replace(shop, settings=settings)
                servers[key] = stack.enter_context(running(kind, served, log))
            return servers[key]

        yield server


@pytest.fixture(scope="session")
def uvicorn(server_of) -> RunningServer:
    """The shop on uvicorn, by ASGI, with output schemas by which clients validate results."""
    return server_of("uvicorn", settings="tests.programs.interop.described_settings")


@pytest.fixture(
    scope="session", params=["gunicorn", pytest.param("runserver", marks=pytest.mark.nightly)]
)
def wsgi_server(request, server_of) -> RunningServer:
    """The shop by WSGI: on gunicorn with three workers, and on Django's own server."""
    return server_of(request.param)


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The folder of Node.js and the packages that ``make node`` installs."""
    if not (NODE_MODULES.parent / "installed").exists():
        reason = f"Node.js packages are not installed in {NODE_MODULES.parent}: run make node"
        if os.environ.get(REQUIRE_NODE) == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return NODE_MODULES


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of asynchronous tests."""
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show the last output of the test's servers with a failure."""
    report = yield
    if report.failed:
        for server in item.funcargs.values():
            if isinstance(server, RunningServer):
                report.sections.append((server.log.stem, server.log.read_text()[-5000:]))
    return report
