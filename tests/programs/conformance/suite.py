"""A server of the fixtures, and the suite that runs against it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.programs.interop.servers import HOST, ROOT, free_port, stop, wait_until_ready

BIN = ROOT / ".venv" / "node" / "node_modules" / ".bin"
SERVERS: Mapping[str, list[str]] = {
    "uvicorn": ["uvicorn", "tests.programs.conformance.asgi:application", "--port={port}"],
    "gunicorn": [
        "gunicorn",
        "tests.programs.conformance.wsgi:application",
        f"--bind={HOST}:{{port}}",
        "--threads=8",
        "--no-control-socket",
    ],
}
WORKER = ["db_worker", "--interval=0.1", "--no-startup-delay", "--no-reload"]
# The options of the suite for each revision. From 2025-11-25 on the suite has a fixed list of the
# scenarios that a revision requires; before, all its scenarios for the revision count.
REVISIONS: Mapping[str, list[str]] = {
    "2025-06-18": ["--suite", "active", "--spec-version", "2025-06-18"],
    "2025-11-25": ["--requirements", "2025-11-25"],
    "2026-07-28": ["--requirements", "2026-07-28"],
}
SCORE = re.compile(r"^([✓✗]) ([\w-]+): ", re.M)
UNSCORED = re.compile(r"^  [✓✗] ([\w-]+) \(", re.M)


@contextmanager
def serving(kind: str, folder: Path) -> Iterator[str]:
    """Serve the fixtures until the block ends, and give the URL of the endpoint."""
    port, log = free_port(), folder / "server.log"
    command = [sys.executable, "-m", *(part.format(port=port) for part in SERVERS[kind])]
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.programs.conformance.settings",
        "CONFORMANCE_DB": str(folder / "db.sqlite3"),
    }
    admin = [sys.executable, "-m", "django"]
    subprocess.run([*admin, "migrate", "--verbosity=0"], cwd=ROOT, env=environment, check=True)
    processes = []
    with log.open("wb") as output:
        # Two workers, so that a task that one of them has left unfinished does not delay the next.
        for started in (command, [*admin, *WORKER], [*admin, *WORKER]):
            processes.append(
                subprocess.Popen(
                    started,
                    cwd=ROOT,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
    try:
        wait_until_ready(processes[0], port, log)
        yield f"http://{HOST}:{port}/mcp"
    finally:
        for process in processes:
            stop(process)


def run(revision: str, url: str) -> dict[str, dict[str, bool]]:
    """Return which scenarios of a revision pass, by ``required`` (or ``active``) and ``others``."""
    command = [BIN / "node", BIN / "conformance", "server", "--url", url, *REVISIONS[revision]]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    summary = printed.partition("=== SUMMARY ===")[2]
    unscored = set(UNSCORED.findall(summary))
    passed = {name: mark == "✓" for mark, name in SCORE.findall(summary)}
    if not passed:
        raise RuntimeError(f"The suite did not run (make node installs it):\n{printed[-2000:]}")
    counted = "required" if "--requirements" in REVISIONS[revision] else "active"
    scored = {
        counted: {name: passed[name] for name in passed if name not in unscored},
        "others": {name: passed[name] for name in passed if name in unscored},
    }
    return {name: found for name, found in scored.items() if found}
