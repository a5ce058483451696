"""The call that ``mcp_tools show NAME`` prints can be pasted into a shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.sources import ROOT as PACKAGE

ROOT = PACKAGE.parent


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Run a line in a shell in the folder of ``manage.py``, with another shop."""
    folder = tmp_path_factory.mktemp("shop")
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "example_project.settings",
        "SHOP_DB": str(folder / "shop.sqlite3"),
        "COLUMNS": "80",
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True
        )

    assert run("python manage.py migrate -v0 && python manage.py seed").returncode == 0
    return run


@pytest.mark.parametrize("name", ["orders_list", "customers_orders_create"])
def test_the_printed_call_can_be_pasted_and_succeeds(shell, name):
    printed = shell(f"python manage.py mcp_tools show {name}").stdout.splitlines()
    place = next(i for i, line in enumerate(printed) if line.startswith("Example"))
    called = shell(printed[place + 1])
    assert called.returncode == 0, called.stdout + called.stderr
    assert json.loads(called.stdout)["success"] is True
