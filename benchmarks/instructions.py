"""``python -m benchmarks.instructions``: processor instructions of everyday requests.

Valgrind counts them, so other load on the machine does not change them. The process starts itself
under callgrind, which counts nothing until every cache is filled; that takes some minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

# Requests of each kind that are counted. The least counts: now and then a thread writes the audit
# records of many calls, and Valgrind prolongs each call a hundredfold.
COUNTED = 5
FOLDER = "DRF_MCP_INSTRUCTIONS"
TOTALS = re.compile(r"^totals: (\d+)", re.MULTILINE)


def main() -> None:
    """Print the table; needs Valgrind."""
    if folder := os.environ.get(FOLDER):
        run(Counter(Path(folder)))
    elif shutil.which("valgrind") is None:
        sys.exit("Valgrind counts the instructions. Get it with: sudo apt-get install valgrind")
    else:
        start()


def start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"),
            f"--callgrind-out-file={folder}/out",
            *(sys.executable, "-m", "benchmarks.instructions"),
        ]
        # A fixed hash seed, so that sets are iterated in the same order each time.
        environment = {**os.environ, FOLDER: folder, "PYTHONHASHSEED": "0"}
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


class Counter:
    """Counts the instructions of this process, which runs under callgrind.

    Args:
        folder: where callgrind writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def control(self, *options: str) -> None:
        command = ["callgrind_control", *options, str(os.getpid())]
        subprocess.run(command, check=True, capture_output=True)

    def count(self, answer: Callable[[], Any]) -> int:
        """Return the number of instructions that an answer takes."""
        self.control("--instr=on")
        answer()
        self.control("--instr=off")
        self.control("--dump")
        (dump,) = self.folder.glob("out.*")
        found = TOTALS.search(dump.read_text())
        dump.unlink()
        return int(found[1]) if found else 0


def run(counter: Counter) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    from benchmarks.__main__ import seed, write

    seed()
    for line in rows(counter):
        write(line)


def rows(counter: Counter) -> Iterator[str]:
    from benchmarks import cases
    from benchmarks.comparing import warm, without_garbage_collection
    from benchmarks.requests import Client, Request, Server

    server = Server()

    def count(request: Request) -> float:
        def repeat(answer: Callable[[], Any]) -> int:
            with without_garbage_collection():
                return counter.count(answer)

        with warm(server, request):
            return min(server.measured(request, repeat) for _ in range(COUNTED))

    alice = Client.of("alice")
    yield f"| {'':38} | instructions | of           | ratio |"
    for comparison in (*cases.everyday(alice), cases.page_over_budget(alice)):
        measured, plain = count(comparison.measured), count(comparison.plain)
        figures = f"{measured:12.0f} | {plain:12.0f} | {measured / plain:.3f}"
        yield f"| {comparison.name:38} | {figures} |"


if __name__ == "__main__":
    main()
