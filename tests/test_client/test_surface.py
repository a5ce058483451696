"""``assert_tool_surface``: a lock file in the tests of a project."""

from __future__ import annotations

import json

import pytest

from drf_mcp.contrib.operators.lock import LockFile
from drf_mcp.test import assert_tool_surface


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "lock.json"
    LockFile(path).write()
    return path


def test_unchanged_tools_pass(lock):
    assert_tool_surface(lock)


@pytest.mark.slow
def test_the_failure_names_a_breaking_change_and_the_command_that_accepts_it(lock):
    surface = json.loads(lock.read_text())
    surface["tools"]["stats"]["arguments"]["year"] = {"type": "integer"}
    lock.write_text(json.dumps(surface))
    with pytest.raises(AssertionError) as failed:
        assert_tool_surface(str(lock))
    assert "stats: argument year removed" in str(failed.value)
    assert f"mcp_tools lock {lock}" in str(failed.value)
