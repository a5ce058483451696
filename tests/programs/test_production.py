"""The example project with settings for production."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCTION = {
    "SHOP_DEBUG": "0",
    "SHOP_HOSTS": "shop.example",
    "SHOP_HTTPS": "1",
    "SHOP_SECRET_KEY": "of-one-machine-alone-" + "0123456789abcdefghij" * 2,
    "DJANGO_SETTINGS_MODULE": "example_project.settings",
}


@pytest.fixture
def run(tmp_path):
    def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        names = {**os.environ, **PRODUCTION, "SHOP_DB": str(tmp_path / "shop.sqlite3"), **variables}
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=names,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert command("migrate", "--verbosity", "0").returncode == 0
    return command


def test_the_deployment_checks_find_nothing(run):
    checked = run("check", "--deploy", "--fail-level", "INFO")
    assert checked.returncode == 0, checked.stderr
    assert "no issues (1 silenced)" in checked.stdout


def test_the_deployment_checks_find_a_missing_setting(run):
    checked = run("check", "--deploy", "--fail-level", "WARNING", SHOP_HTTPS="0")
    assert checked.returncode == 1
    assert "security.W008" in checked.stderr
