"""The interpreter with which ``make`` makes ``.venv``, if some names on the PATH do not run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.programs.interop.servers import ROOT

FAILS = "exit 127"
# Pretends to be new enough, and makes an environment that is empty.
RUNS = 'case "$1" in -m) mkdir -p .venv/bin; echo "$0" > .venv/bin/python;; esac'
INSTALLED = 'test "$*" = "whence --path python3.99" && echo "$(dirname "$0")/installed/python3.99"'


@pytest.fixture
def make(tmp_path) -> Callable[[str, str], tuple[str, str]]:
    """Make .venv; returns the program that was used and the error output."""
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


def test_a_name_on_the_path_is_preferred(make):
    assert make(RUNS, INSTALLED)[0] == "python3.99"


def test_if_a_shim_fails_a_version_that_pyenv_has_is_used(make):
    assert make(FAILS, INSTALLED)[0] == "installed/python3.99"


def test_the_error_names_what_was_tried(make):
    made, errors = make(FAILS, FAILS)
    assert made == ""
    assert "none of these runs it: python3.98 python3.99." in errors
