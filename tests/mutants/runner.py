"""Changes one kept line at a time in a copy of the tree, and runs the nearest tests."""

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
# Seconds after which tests that no longer end are stopped.
LONGEST = 600
CAUGHT, SURVIVED, RED = "caught", "survived", "red without the change"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: which test failed, or the last line of what was printed."""

    mutant: Mutant
    outcome: str
    seconds: float
    said: str


class Copy:
    """A copy of a tree, in which one line at a time is another one."""

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
        """Have the line changed for a while."""
        module = self.folder / "drf_mcp" / mutant.path
        text = module.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, f"{mutant.path} has another text: {mutant.guards}"
        module.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            yield
        finally:
            module.write_text(text, encoding="utf-8")

    def run(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Return whether tests pass, the slow ones last, and the line of the one that fails."""
        for chosen in ("not slow and not variant", "slow or variant"):
            passed, said = self.run_chosen(tests, chosen)
            if not passed:
                break
        return passed, said

    def run_chosen(self, tests: Sequence[str], chosen: str) -> tuple[bool, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        # Both halves have the same variants: what one leaves out, the other runs.
        command += ["--randomly-seed=1", "--no-header", "-m", chosen]
        command += [f"tests/{test}" for test in tests]
        # Modules that change within a second would be read from what was compiled before.
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
            return False, f"no end after {LONGEST} seconds"
        lines = (done.stdout + done.stderr).splitlines() or [""]
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        # 5: no test was chosen.
        return done.returncode in (0, 5), (failed or lines[-1:])[0]


class Runner:
    """Tries mutants in as many copies as there are processes."""

    def __init__(self, mutants: Sequence[Mutant], processes: int, tree: Path = ROOT) -> None:
        self.tree = tree
        self.mutants = mutants
        self.processes = min(processes, len(mutants))
        self.copies: SimpleQueue[Copy] = SimpleQueue()

    def run(self) -> Iterator[Verdict]:
        """Yield what became of each, in their order."""
        with tempfile.TemporaryDirectory() as folder:
            for number in range(self.processes):
                self.copies.put(Copy(self.tree, Path(folder) / str(number)))
            with ThreadPoolExecutor(self.processes) as pool:
                yield from pool.map(self.judge, self.mutants)

    def judge(self, mutant: Mutant) -> Verdict:
        copy, started = self.copies.get(), time.monotonic()
        try:
            with copy.changed(mutant):
                passed, said = copy.run(mutant.tests)
            outcome = SURVIVED if passed else CAUGHT
            if not passed and not copy.run(self.find_failed(mutant, said))[0]:
                outcome = RED
        finally:
            self.copies.put(copy)
        return Verdict(mutant, outcome, time.monotonic() - started, said)

    def find_failed(self, mutant: Mutant, said: str) -> Sequence[str]:
        """Return the test that failed, all of them where no test says so."""
        found = re.match(r"FAILED tests/(.*?)(?: - |$)", said)
        return [found[1]] if found else mutant.tests
