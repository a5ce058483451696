"""Change one function at a time in a copy of the repository and run the nearest tests."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.changes import Function, find_functions
from tests.mutants.kept import Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("drf_mcp", "example_project", "tests", "docs", "benchmarks", "pyproject.toml")
# Tests that run longer, such as in an endless loop, are stopped after these seconds.
LONGEST = 600
CAUGHT, SURVIVED, UNRELATED = "caught", "survived", "fails without the change"


class Place(NamedTuple):
    """Where a function is: its module, relative to the tree, and its code."""

    path: Path
    function: Function


class Verdict(NamedTuple):
    """The outcome of a mutant, with the line of the test that failed or the last of the output."""

    mutant: Mutant
    outcome: str
    seconds: float
    message: str


def find_places(tree: Path) -> dict[str, list[Place]]:
    """Return the functions of the package by their qualified names."""
    found: dict[str, list[Place]] = {}
    for module in sorted((tree / "drf_mcp").rglob("*.py")):
        functions = find_functions(ast.parse(module.read_text(encoding="utf-8")))
        for name, function in functions.items():
            found.setdefault(name, []).append(Place(module.relative_to(tree), function))
    return found


def run_tests(folder: Path, tests: Sequence[str]) -> tuple[bool, str]:
    """Run the fast tests, then the slow ones.

    Returns:
        Whether all of them passed, and the line of the test that failed.
    """
    for chosen in ("not slow and not variant", "slow or variant"):
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        # With one seed, the two runs choose the same variants, so no test is left out.
        command += ["--randomly-seed=1", "--no-header", "-m", chosen]
        command += [f"tests/{test}" for test in tests]
        # Python would import the old bytecode of a module that changes twice within a second.
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_PROFILE": "fast",
        }
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            return False, f"not finished after {LONGEST} seconds"
        lines = (done.stdout + done.stderr).splitlines() or [""]
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        # The exit code is 5 if no test was chosen.
        if done.returncode not in (0, 5):
            break
    return done.returncode in (0, 5), (failed or lines[-1:])[0]


class Runner:
    """Runs the tests of mutants, with one copy of the repository for each process."""

    def __init__(self, mutants: Sequence[Mutant], processes: int, tree: Path = ROOT) -> None:
        self.tree, self.mutants = tree, mutants
        self.places = find_places(tree)
        self.processes = min(processes, len(mutants))
        self.copies: SimpleQueue[Path] = SimpleQueue()

    def run(self) -> Iterator[Verdict]:
        """Yield the verdicts in the order of the mutants."""
        with tempfile.TemporaryDirectory() as folder:
            for number in range(self.processes):
                self.copies.put(self.copy_tree(Path(folder) / str(number)))
            with ThreadPoolExecutor(self.processes) as pool:
                yield from pool.map(self.judge, self.mutants)

    def copy_tree(self, folder: Path) -> Path:
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", "_build")
        for name in COPIED:
            source = self.tree / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, folder / name)
        return folder

    def judge(self, mutant: Mutant) -> Verdict:
        folder, started = self.copies.get(), time.monotonic()
        module = folder / self.places[mutant.function][0].path
        text = module.read_text(encoding="utf-8")
        module.write_text(mutant.change.apply(text, mutant.function), encoding="utf-8")
        try:
            passed, message = run_tests(folder, mutant.tests)
            module.write_text(text, encoding="utf-8")
            outcome = SURVIVED if passed else CAUGHT
            if not passed and not run_tests(folder, find_failed(mutant, message))[0]:
                outcome = UNRELATED
        finally:
            module.write_text(text, encoding="utf-8")
            self.copies.put(folder)
        return Verdict(mutant, outcome, time.monotonic() - started, message)


def find_failed(mutant: Mutant, message: str) -> Sequence[str]:
    """Return the test that failed, or all tests if the message names none."""
    found = re.match(r"FAILED tests/(.*?)(?: - |$)", message)
    return [found[1]] if found else mutant.tests
