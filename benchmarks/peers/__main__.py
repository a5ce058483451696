"""``python -m benchmarks.peers``: tables of drf_mcp and other packages over the same project.

Each package runs in a process of its own with the same Django and REST framework, and takes turns
with the plain request. The packages are installed into ``build/environments``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.environments import REQUIREMENTS, find_python
from benchmarks.peers import report

PEERS = ("drf_mcp", *REQUIREMENTS)
OPERATIONS = ("read", "page", "create", "refused", "denied")
LIST = "tools/list"
WORKER = "benchmarks.peers.worker"


class Process:
    """A package's process.

    Args:
        peer: the package.
        folder: the folder of its database.
        tools: how many tools the project has; 0 for the example.
    """

    def __init__(self, peer: str, folder: Path, tools: int = 0) -> None:
        self.peer = peer
        name = f"{peer}-{tools}"
        self.command = [find_python(peer), "-m", WORKER]
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SHOP_")},
            # The preparation writes bytecode, so that later processes compile nothing.
            "PYTHONDONTWRITEBYTECODE": "",
            "PEER": peer,
            "TOOLS": str(tools),
            "DATABASE": str(folder / f"{name}.sqlite3"),
            "DOCUMENT": str(folder / f"{name}.json"),
        }
        self.run("--prepare")
        self.process: subprocess.Popen[str] | None = None

    def run(self, argument: str, **environment: str) -> float:
        """Run the worker until it ends, and return its processor seconds."""
        before = children_seconds()
        subprocess.run(
            [*self.command, argument],
            env={**self.environment, **environment},
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return children_seconds() - before

    def ask(self, do: str, **options: Any) -> Any:
        """Send a line to the worker and return its answer."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **options}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.peer} ended; run {self.command} to see why")
        return json.loads(line)

    def close(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(
    processes: Sequence[Process], operations: Sequence[str], rounds: int
) -> Iterator[tuple[str, str, report.Cost]]:
    """Yield operation, package and cost, all measured in turns."""
    asked = [(name, each) for name in operations for each in processes]
    costs = {(name, each.peer): report.Cost(each.ask("count", name=name)) for name, each in asked}
    for turn in range(rounds):
        for name, each in asked:
            seconds = each.ask("time", name=name, turn=turn)
            costs[name, each.peer].plain += seconds["plain"]
            costs[name, each.peer].measured += seconds["measured"]
    for (name, peer), cost in costs.items():
        yield name, peer, cost


def find_start(process: Process, rounds: int) -> float:
    """Return the processor time until the first answer, of a process without the package.

    That process has the same interpreter and the same installed packages.
    """
    pairs = [(process.run("--first"), process.run("--first", PEER="plain")) for _ in range(rounds)]
    measured, plain = (statistics.median(each) for each in zip(*pairs, strict=True))
    return measured / plain


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("peers", nargs="*", default=PEERS, help=f"of {', '.join(PEERS)}")
    parser.add_argument("--rounds", type=int, default=40, help="rounds of three requests each")
    parser.add_argument("--starts", type=int, default=5, help="processes of each kind")
    parser.add_argument("--tools", type=int, default=1002, help="tools of the larger project")
    asked = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-")))
        results = report.Results(asked.peers)
        for tools in (0, asked.tools):
            processes = [Process(peer, folder, tools) for peer in asked.peers]
            for each in processes:
                stack.callback(each.close)
                results.checks[tools, each.peer] = each.ask("check")
            operations = (LIST,) if tools else (*OPERATIONS, LIST)
            rounds = min(asked.rounds, 10) if tools else asked.rounds
            for name, peer, cost in measure(processes, operations, rounds):
                results.costs[tools, name, peer] = cost
            for each in processes:
                results.starts[tools, each.peer] = find_start(each, asked.starts)
    sys.stdout.write("\n".join(results.write()) + "\n")


if __name__ == "__main__":
    main()
