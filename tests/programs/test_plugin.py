"""The pytest plugin, in another project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PLUGIN = "drf_mcp.pytest_plugin"

PROJECT_TESTS = """
import pytest
from drf_mcp.test import MCPClient, ToolParity

def test_the_fixture_is_there(mcp_client):
    assert isinstance(mcp_client, MCPClient)

@pytest.mark.django_db
def test_each_test_has_its_own(mcp_client):
    mcp_client.credentials(HTTP_AUTHORIZATION="x")

class TestParity(ToolParity):
    users = ["dora"]
    exclude = ["customers_list"]
    arguments = {"status": {"version": "v1"}}

    def user_named(self, name):
        from django.contrib.auth.models import User
        return User.objects.create(username=name)
"""


def installed() -> bool:
    return PLUGIN in {point.value for point in entry_points(group="pytest11")}


def test_a_project_gets_the_fixture_and_the_parity_test(tmp_path):
    (tmp_path / "test_project.py").write_text(PROJECT_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    if not installed():
        command += ["-p", PLUGIN]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    command += ["--rootdir", str(tmp_path), str(tmp_path), "--ds", "tests.settings"]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) > 20
