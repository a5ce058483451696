"""``manage.py demo`` in its own process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sources import ROOT as PACKAGE

ROOT = PACKAGE.parent


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``manage.py`` of the example project in its own process."""
    chosen = {**os.environ, "DJANGO_SETTINGS_MODULE": "example_project.settings", **environment}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=chosen, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("command", [["migrate"], ["demo", "--no-serve"], ["check"]])
def test_any_command_may_be_the_first_one(command, tmp_path):
    """The folder of the database is made before a system check or a migration opens it."""
    database = tmp_path / "a new" / "folder" / "shop.sqlite3"
    process = manage(*command, SHOP_DB=str(database))
    assert process.returncode == 0, process.stderr
    assert database.parent.is_dir()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    process = manage("demo", "--no-serve", SHOP_DB=str(tmp_path / "file" / "shop.sqlite3"))
    assert process.returncode != 0
    last = process.stderr.strip().splitlines()[-1]
    assert str(tmp_path / "file") in last
    assert "SHOP_DB" in last
