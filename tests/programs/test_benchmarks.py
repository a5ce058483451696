"""Each benchmark runs, with little to do, and prints what it measures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = {
    "calls": ("benchmarks", ["read one row", "--rounds", "1"], "| read one row |"),
    "agents": (
        "benchmarks.agents",
        ["--project", "loans", "--attempts", "1", "--every", "9"],
        "| faults silently wrong | 0 |",
    ),
    "searches": ("benchmarks.agents", ["--search"], "| all that are kept | 60 |"),
    "ways": ("benchmarks.agents", ["--ways"], "| composed, by search | 12 of 12 |"),
    "listing": ("benchmarks.listing", ["example", "."], "example: "),
    "peers": (
        "benchmarks.peers",
        ["drf_mcp", "--rounds", "1", "--starts", "1", "--tools", "6"],
        "| strangers are refused with 401 | yes |",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_benchmark_prints_its_figures(name):
    module, arguments, row = RUNS[name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        check=False,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert row in done.stdout, done.stdout
