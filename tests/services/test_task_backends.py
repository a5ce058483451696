"""Tasks with each backend in docs/tasks.md, whose worker runs the calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.programs.interop import servers
from tests.services.client import TASKS, Client
from tests.services.machines import Process, wait_until

# The fixtures need these with another version of Django.
NEEDED = ("djangorestframework", "pydantic", "PyYAML", "gunicorn")
BACKENDS = ("django-tasks-db", "django-tasks-rq")
WORKERS = {
    "database": "db_worker --interval=0.1 --no-startup-delay --no-reload",
    "RQ": "rqworker default --job-class=django_tasks_rq.Job",
}
CASES = [("database", "6"), ("RQ", "6"), ("RQ", "5.2")]


def find_newer_python() -> str | None:
    """Return an interpreter that Django 6 supports, None if the machine has none."""
    pyenv = Path.home() / ".pyenv" / "versions"
    named = [shutil.which(f"python3.{minor}") for minor in (13, 12)]
    paths = [*filter(None, named), *map(str, sorted(pyenv.glob("3.1[2-9].*/bin/python")))]
    for path in paths:
        probe = [path, "-c", "import ensurepip, sys; sys.exit(sys.version_info < (3, 12))"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return path
    return None


@pytest.fixture(scope="session")
def newest_django() -> Path:
    """The interpreter of an environment with Django 6, which is created once."""
    folder = servers.ROOT / "build" / "newest_django"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        if (newer := find_newer_python()) is None:
            pytest.skip("Django 6 needs Python 3.12")
        subprocess.run([newer, "-m", "venv", "--clear", folder], check=True)
        wanted = ["Django>=6", *NEEDED, *BACKENDS]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        (folder / "installed").touch()
    return python


class Workshop:
    """A server and one worker with one backend, each in its own process.

    Args:
        python: their interpreter.
        backend: a key of WORKERS.
        folder: the folder of the database and of the output.
    """

    def __init__(self, python: Path, backend: str, folder: Path) -> None:
        self.folder = folder
        self.port, redis = servers.free_port(), servers.free_port()
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.services.task_settings",
            "CONFORMANCE_DB": str(folder / "db.sqlite3"),
            "TASK_BACKEND": backend,
            "TASK_REDIS": f"redis://{servers.HOST}:{redis}/0",
        }
        manage = [str(python), "-m", "django"]
        served = "tests.programs.conformance.wsgi:application"
        bind = f"--bind={servers.HOST}:{self.port}"
        self.environment, self.manage = environment, manage
        self.redis = self.run(
            "redis", ["redis-server", "--port", str(redis), "--save", "", "--dir", str(folder)]
        )
        self.server = self.run(
            "server",
            [str(python), "-m", "gunicorn", served, bind, "--threads=4", "--no-control-socket"],
        )
        self.worker = self.run("worker", [*manage, *WORKERS[backend].split()])

    def run(self, name: str, command: list[str]) -> Process:
        return Process(command, self.folder / f"{name}.log", self.environment)

    def start(self) -> None:
        migrate = [*self.manage, "migrate", "--verbosity=0"]
        subprocess.run(migrate, cwd=servers.ROOT, env=self.environment, check=True)
        for process in self.processes:
            process.start()
        servers.wait_until_ready(self.server.process, self.port, self.server.log)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.stop()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self.redis, self.server, self.worker

    def make_client(self) -> Client:
        capabilities = {"elicitation": {}, "extensions": {TASKS: {}}}
        return Client(f"http://{servers.HOST}:{self.port}", "anybody", capabilities=capabilities)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}, Django {case[1]}")
def workshop(request, tmp_path_factory) -> Iterator[Workshop]:
    backend, version = request.param
    newest = version == "6"
    python = request.getfixturevalue("newest_django") if newest else Path(sys.executable)
    workshop = Workshop(python, backend, tmp_path_factory.mktemp("workshop"))
    with ExitStack() as stack:
        stack.callback(workshop.stop)
        workshop.start()
        yield workshop


@pytest.fixture
def client(workshop) -> Iterator[Client]:
    client = workshop.make_client()
    yield client
    client.close()


def begin(client: Client, name: str, **arguments: Any) -> str:
    """Call a tool and return the id of its task."""
    task = client.request("tools/call", name=name, arguments=arguments)
    assert task["resultType"] == "task", task
    return task["taskId"]


def wait_for(client: Client, task_id: str, *statuses: str) -> dict[str, Any]:
    """Return a task as soon as it has one of the statuses."""

    def look() -> dict[str, Any] | None:
        task = client.request("tasks/get", taskId=task_id)
        return task if task["status"] in statuses else None

    return wait_until(look, 40)


def test_the_worker_runs_the_call(client):
    task_id = begin(client, "slow_compute", seconds=0.1, label="some")
    task = wait_for(client, task_id, "completed", "failed")
    assert task["status"] == "completed"
    assert task["result"]["structuredContent"]["data"] == {"seconds": 0.1, "label": "some"}


def test_the_worker_asks_and_continues_with_the_answer(client):
    task_id = begin(client, "confirm_delete", filename="notes.txt")
    task = wait_for(client, task_id, "input_required")
    (key,) = task["inputRequests"]
    answers = {key: {"action": "accept", "content": {"confirm": True}}}
    client.request("tasks/update", taskId=task_id, inputResponses=answers)
    task = wait_for(client, task_id, "completed", "failed")
    assert task["result"]["structuredContent"]["data"] == {"deleted": True}
