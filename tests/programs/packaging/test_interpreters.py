"""The interpreter that ``make`` makes ``.venv`` with, where names of programs may not run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.programs.interop.servers import ROOT

FAILS = "exit 127"
# It says that it is new enough and has what environments are made with, and makes an empty one.
RUNS = 'case "$1" in -m) mkdir -p .venv/bin; echo "$0" > .venv/bin/python;; esac'
INSTALLED = 'test "$*" = "whence --path python3.99" && echo "$(dirname "$0")/installed/python3.99"'


@pytest.fixture
def make(tmp_path) -> Callable[[str, str], tuple[str, str]]:
    """Make .venv and return with which program, below the PATH's folder, and what was told."""
    folder = tmp_path / "programs"
    (folder / "installed").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    names = "PYTHON=python3.98 python3.99"

    def make(python: str, pyenv: str) -> tuple[str, str]:
        programs = {"python3.99": python, "pyenv": pyenv, "installed/python3.99": RUNS}
        for name, script in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        done = subprocess.run(
            ["make", ".venv/bin/python", names],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{folder}:/usr/bin:/bin", "MAKEFLAGS": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        made = tmp_path / ".venv" / "bin" / "python"
        used = made.read_text().strip() if made.exists() else ""
        return used.removeprefix(f"{folder}/"), done.stderr

    return make


def test_a_name_on_the_path_goes_first(make):
    assert make(RUNS, INSTALLED)[0] == "python3.99"


def test_a_shim_that_fails_gives_way_to_what_pyenv_has_installed(make):
    assert make(FAILS, INSTALLED)[0] == "installed/python3.99"


def test_what_was_tried_is_named_where_nothing_runs(make):
    made, told = make(FAILS, FAILS)
    assert made == ""
    assert "none of these runs it: python3.98 python3.99." in told
