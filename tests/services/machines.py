"""PostgreSQL, PgBouncer, Redis, and the shop on two sites: starts, breaks and stops them."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from tests.programs.interop import servers

SOCKETS = os.environ.get("DRF_MCP_TEST_POSTGRESQL", "")
PG_CTL = shlex.split(os.environ.get("DRF_MCP_TEST_PG_CTL", ""))
NAME = "sites"
KEEP_ALIVE = 75
# The commands of docs/deployment.md; each process ends with its process group.
COMMANDS = {
    "gunicorn": "gunicorn example_project.wsgi:application --bind {host}:{port} --workers 4"
    f" --threads 4 --keep-alive {KEEP_ALIVE} --timeout 60 --no-control-socket",
    "uvicorn": "uvicorn example_project.asgi:application --host {host} --port {port} --workers 2"
    f" --timeout-keep-alive {KEEP_ALIVE} --log-level warning",
}
# With fewer connections than the site has threads.
PGBOUNCER = """[databases]
* = host={folder}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = {port}
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = transaction
default_pool_size = 3
server_login_retry = 1
query_wait_timeout = 5
"""
# Like a supervisor: the worker ends when its connection does.
WORKER = "while true; do {python} manage.py db_worker --interval 0.2; sleep 0.5; done"


def wait_until(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Return the result of a function as soon as it is true.

    Raises:
        TimeoutError: if it does not become true in time.
    """
    until = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"Not in {seconds} s: {condition}")
        time.sleep(0.05)
    return found


class PostgreSQL:
    """The server that .ci/with_services started, with a database for the sites."""

    def execute(self, statement: str, *parameters: Any, name: str = NAME) -> list[tuple]:
        """Return the rows of a statement, which runs on its own connection."""
        at = f"host={SOCKETS} user=postgres dbname={name}"
        with psycopg.connect(at, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def create(self, name: str = NAME) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", name="postgres")
        self.execute(f"CREATE DATABASE {name}", name="postgres")

    def control(self, *words: str) -> None:
        # A server keeps the output of the process that started it open.
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        subprocess.run([*PG_CTL, "--wait", *words], check=True, cwd="/", **streams)

    def stop(self) -> None:
        """End the server with all its connections."""
        self.control("--mode=fast", "stop")

    def start(self) -> None:
        self.control("start")

    @contextmanager
    def locked(self, table: str, pk: int) -> Iterator[Callable[[], int]]:
        """Lock one row; yields a function that waits for a process whose call needs the row."""
        at = f"host={SOCKETS} user=postgres dbname={NAME}"
        with psycopg.connect(at) as connection:
            connection.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR UPDATE", [pk])
            yield lambda: wait_until(self.find_waiting)

    def find_waiting(self) -> int | None:
        """Return the process of a site whose statement waits for a lock."""
        rows = self.execute(
            "SELECT application_name FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND application_name LIKE 'pid %'"
        )
        return int(rows[0][0].split()[1]) if rows else None

    @contextmanager
    def full(self, *tables: str) -> Iterator[None]:
        """Let PostgreSQL refuse rows as on a full disk (SQLSTATE 53100)."""
        self.execute(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END $$"
        )
        for table in tables:
            self.execute(
                f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION refuse()"
            )
        try:
            yield
        finally:
            for table in tables:
                self.execute(f"DROP TRIGGER full_disk ON {table}")


@dataclass
class Process:
    """A command of the shop, whose output goes to a file."""

    command: list[str]
    log: Path
    environment: dict[str, str]
    process: Any = None

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command,
                cwd=servers.ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGTERM)
            servers.stop(self.process)
            self.process = None

    @property
    def workers(self) -> list[int]:
        """The ids of the processes that serve requests."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = [int(pid) for pid in path.read_text().split()]
        return [pid for pid in children if not is_tracker(pid)]

    @property
    def memory(self) -> float:
        """The private memory of the workers in megabytes."""
        return sum(map(read_memory, self.workers))


def is_tracker(pid: int) -> bool:
    # A process of Python's own, in addition to the workers of uvicorn.
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def read_memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kilobytes = (int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return sum(kilobytes) / 1024


class PgBouncer(Process):
    """PgBouncer in transaction mode, beside the socket of PostgreSQL.

    A process of a site gets another connection to PostgreSQL for each transaction.
    """

    PORT = 6432

    def start(self) -> None:
        (Path(SOCKETS) / "users.txt").write_text('"postgres" ""\n')
        (Path(SOCKETS) / "pgbouncer.ini").write_text(
            PGBOUNCER.format(folder=SOCKETS, port=self.PORT)
        )
        super().start()
        wait_until((Path(SOCKETS) / f".s.PGSQL.{self.PORT}").exists)


class Redis(Process):
    """A Redis server without persistence."""

    def start(self) -> None:
        super().start()
        wait_until(self.answers)

    def answers(self) -> bool:
        done = subprocess.run(
            ["redis-cli", "-s", self.environment["SOCKET"], "ping"], capture_output=True
        )
        return done.stdout == b"PONG\n"


@dataclass
class Site(Process):
    """A server of the shop.

    Attributes:
        port: the port on 127.0.0.1.
    """

    port: int = 0

    @property
    def url(self) -> str:
        return f"http://{servers.HOST}:{self.port}"

    def start(self) -> None:
        super().start()
        servers.wait_until_ready(self.process, self.port, self.log)

    def kill(self, pid: int) -> None:
        """End one worker as the kernel does without memory, and wait for the next worker."""
        count = len(self.workers)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pid not in self.workers and len(self.workers) == count)


@dataclass
class Machines:
    """Two sites, a worker for tasks, and their services."""

    folder: Path
    postgresql: PostgreSQL = field(default_factory=PostgreSQL)

    @cached_property
    def environment(self) -> dict[str, str]:
        chosen = {
            "DJANGO_SETTINGS_MODULE": f"{__package__}.settings",
            "SHOP_DB": str(self.folder / "unused.sqlite3"),
            "SHOP_DEBUG": "0",
            "SHOP_DB_HOST": SOCKETS,
            "SHOP_DB_NAME": NAME,
            "SHOP_DB_USER": "postgres",
            "SHOP_REDIS": f"unix://{self.folder}/redis.sock",
            "SHOP_METRICS": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(self.metrics),
        }
        return {**os.environ, **chosen}

    @cached_property
    def metrics(self) -> Path:
        """The folder with the numbers of all processes."""
        folder = self.folder / "metrics"
        folder.mkdir()
        return folder

    @cached_property
    def pgbouncer(self) -> PgBouncer:
        # Like PostgreSQL, it refuses to run as root.
        as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_owner, "pgbouncer", "--quiet", f"{SOCKETS}/pgbouncer.ini"]
        return PgBouncer(command, self.folder / "pgbouncer.log", dict(os.environ))

    @cached_property
    def redis(self) -> Redis:
        path = f"{self.folder}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", path, "--save", ""]
        folder = ["--dir", str(self.folder)]
        return Redis([*command, *folder], self.folder / "redis.log", {**os.environ, "SOCKET": path})

    @cached_property
    def sites(self) -> dict[str, Site]:
        return {kind: self.make_site(kind, words) for kind, words in COMMANDS.items()}

    def make_site(self, kind: str, words: str) -> Site:
        port = servers.free_port()
        command = words.format(host=servers.HOST, port=port).split()
        # One site reaches PostgreSQL by PgBouncer; libpq reads the variable.
        pooled = {"PGPORT": str(PgBouncer.PORT)} if kind == "uvicorn" else {}
        return Site(
            [sys.executable, "-m", *command],
            self.folder / f"{kind}.log",
            {**self.environment, **pooled},
            port=port,
        )

    @cached_property
    def worker(self) -> Process:
        command = WORKER.format(python=sys.executable)
        return Process(["sh", "-c", command], self.folder / "worker.log", self.environment)

    @property
    def other(self) -> dict[str, str]:
        gunicorn, uvicorn = COMMANDS
        return {gunicorn: uvicorn, uvicorn: gunicorn}

    def manage(self, *words: str) -> str:
        """Run a command of the shop and return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=servers.ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @cached_property
    def tokens(self) -> dict[str, str]:
        """The token of each user, by name."""
        rows = "SELECT username, key FROM authtoken_token JOIN auth_user ON auth_user.id = user_id"
        return dict(self.postgresql.execute(rows))

    @contextmanager
    def running(self) -> Iterator[Machines]:
        self.postgresql.create()
        with ExitStack() as stack:
            self.redis.start()
            stack.callback(self.redis.stop)
            self.manage("demo", "--no-serve")
            for process in (self.pgbouncer, *self.sites.values(), self.worker):
                stack.callback(process.stop)
                process.start()
            yield self
