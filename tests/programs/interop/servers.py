"""Real servers of the example shop, started as subprocesses."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"
SECONDS_TO_START = 60

COMMANDS = {
    "uvicorn": [
        "-m",
        "uvicorn",
        "example_project.asgi:application",
        "--port={port}",
        # A client of Node.js that pauses longer loses its next call: docs/deployment.md.
        "--timeout-keep-alive=75",
    ],
    "processes": [
        *("-m", "uvicorn", "example_project.asgi:application", "--port={port}", "--workers=2")
    ],
    "asgi": [
        *("-m", "gunicorn", "example_project.asgi:application", f"--bind={HOST}:{{port}}"),
        *("--worker-class=asgi", "--workers=2", "--no-control-socket"),
    ],
    "gunicorn": [
        "-m",
        "gunicorn",
        "example_project.wsgi:application",
        f"--bind={HOST}:{{port}}",
        "--workers=3",
        # The socket is in the home directory, where all gunicorns of the machine would share it.
        "--no-control-socket",
    ],
    "threads": [
        "-m",
        "gunicorn",
        "example_project.wsgi:application",
        f"--bind={HOST}:{{port}}",
        "--workers=2",
        "--threads=4",
        "--no-control-socket",
    ],
    "waitress": ["-m", "waitress", f"--listen={HOST}:{{port}}", "example_project.wsgi:application"],
    "granian": [
        *("-m", "granian", "--interface=wsgi", f"--host={HOST}", "--port={port}"),
        "example_project.wsgi:application",
    ],
    "hypercorn": ["-m", "hypercorn", f"--bind={HOST}:{{port}}", "example_project.asgi:application"],
    "daphne": ["-m", "daphne", "--port={port}", "example_project.asgi:application"],
    "runserver": ["manage.py", "runserver", "{port}", "--noreload"],
}


@dataclass(frozen=True)
class Shop:
    """The example shop with its database file.

    Attributes:
        database: the SQLite file.
        settings: the settings module of its servers.
    """

    database: Path
    settings: str = "example_project.settings"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of its processes."""
        chosen = {
            "SHOP_DB": str(self.database),
            "SHOP_DEBUG": "0",
            "DJANGO_SETTINGS_MODULE": self.settings,
        }
        return {**os.environ, **chosen}

    def seed(self) -> None:
        """Make the database and fill it, as ``make demo`` does."""
        command = [sys.executable, "manage.py", "demo", "--no-serve"]
        subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.DEVNULL
        )

    @cached_property
    def tokens(self) -> dict[str, str]:
        """The token of each user, by username."""
        rows = "SELECT username, key FROM authtoken_token JOIN auth_user ON auth_user.id = user_id"
        connection = sqlite3.connect(self.database)
        try:
            return dict(connection.execute(rows))
        finally:
            connection.close()


@dataclass(frozen=True)
class RunningServer:
    """A server that answers.

    Attributes:
        url: the MCP endpoint.
        shop: the shop that it serves.
        log: the file with its output.
        process: the process, or the parent of its workers.
    """

    url: str
    shop: Shop
    log: Path
    process: subprocess.Popen


@contextmanager
def running(
    kind: str, shop: Shop, log: Path, python: str = sys.executable
) -> Iterator[RunningServer]:
    """Run one of `COMMANDS` on a free port until the block ends."""
    port = free_port()
    command = [python, *(part.format(port=port) for part in COMMANDS[kind])]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=shop.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_ready(process, port, log)
        yield RunningServer(f"http://{HOST}:{port}/mcp", shop, log, process)
    finally:
        stop(process)


def free_port() -> int:
    """Return a port that no process listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def wait_until_ready(process: subprocess.Popen, port: int, log: Path) -> None:
    """Return when the server accepts connections; raise RuntimeError if it does not."""
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"The server did not start:\n{log.read_text()}")


def stop(process: subprocess.Popen) -> None:
    """End the server and every process that it started."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
