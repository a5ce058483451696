"""Change one line at a time in a copy of the repository and run the nearest tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.kept import Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("drf_mcp", "example_project", "tests", "docs", "benchmarks", "pyproject.toml")
# Tests that run longer, such as in an endless loop, are stopped after these seconds.
LONGEST = 600
CAUGHT, SURVIVED, UNRELATED = "caught", "survived", "fails without the change"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a mutant.

    Attributes:
        message: the line of the test that failed, or the last line of the output.
    """

    mutant: Mutant
    outcome: str
    seconds: float
    message: str


class Copy:
    """A copy of the repository in which one line at a time is changed."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", "_build")
        for name in COPIED:
            source = tree / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, folder / name)

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Change the line for the time of the context."""
        module = self.folder / "drf_mcp" / mutant.path
        text = module.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, (
            f"{mutant.path} does not have the line once: {mutant.guards}"
        )
        module.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            yield
        finally:
            module.write_text(text, encoding="utf-8")

    def run(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Run the fast tests, then the slow ones.

        Returns:
            Whether all of them passed, and the line of the test that failed.
        """
        for chosen in ("not slow and not variant", "slow or variant"):
            passed, message = self.run_chosen(tests, chosen)
            if not passed:
                break
        return passed, message

    def run_chosen(self, tests: Sequence[str], chosen: str) -> tuple[bool, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        # With one seed, the two runs choose the same variants, so no test is left out.
        command += ["--randomly-seed=1", "--no-header", "-m", chosen]
        command += [f"tests/{test}" for test in tests]
        # Python would import the old bytecode of a module that changes twice within a second.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "fast"}
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
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
        return done.returncode in (0, 5), (failed or lines[-1:])[0]


class Runner:
    """Runs the tests of mutants, with one copy of the repository for each process."""

    def __init__(self, mutants: Sequence[Mutant], processes: int, tree: Path = ROOT) -> None:
        self.tree = tree
        self.mutants = mutants
        self.processes = min(processes, len(mutants))
        self.copies: SimpleQueue[Copy] = SimpleQueue()

    def run(self) -> Iterator[Verdict]:
        """Yield the verdicts in the order of the mutants."""
        with tempfile.TemporaryDirectory() as folder:
            for number in range(self.processes):
                self.copies.put(Copy(self.tree, Path(folder) / str(number)))
            with ThreadPoolExecutor(self.processes) as pool:
                yield from pool.map(self.judge, self.mutants)

    def judge(self, mutant: Mutant) -> Verdict:
        copy, started = self.copies.get(), time.monotonic()
        try:
            with copy.changed(mutant):
                passed, message = copy.run(mutant.tests)
            outcome = SURVIVED if passed else CAUGHT
            if not passed and not copy.run(self.find_failed(mutant, message))[0]:
                outcome = UNRELATED
        finally:
            self.copies.put(copy)
        return Verdict(mutant, outcome, time.monotonic() - started, message)

    def find_failed(self, mutant: Mutant, message: str) -> Sequence[str]:
        """Return the test that failed, or all tests if the message names none."""
        found = re.match(r"FAILED tests/(.*?)(?: - |$)", message)
        return [found[1]] if found else mutant.tests
