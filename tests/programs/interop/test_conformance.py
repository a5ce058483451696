"""The official conformance suite at a real server with an open endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.programs.conformance.suite import run, serving

# The scenarios that a revision requires and `tests.programs.conformance` does not serve: before
# 2026-07-28, sampling and subscriptions, which no host asks for.
NOT_SERVED = {
    "2025-11-25": {
        *("tools-call-sampling", "resources-subscribe", "resources-unsubscribe"),
    },
    "2026-07-28": set(),
}


@pytest.fixture(scope="session")
def fixtures_url(tmp_path_factory):
    """The endpoint of the fixtures."""
    with serving("uvicorn", tmp_path_factory.mktemp("conformance")) as url:
        yield url


@pytest.mark.parametrize("revision", NOT_SERVED)
def test_all_required_scenarios_pass_that_need_no_session(fixtures_url, node_modules, revision):
    scores = run(revision, fixtures_url)
    tasks = {name: it for name, it in scores["others"].items() if name.startswith("tasks-")}
    passed = scores["required"] | tasks
    assert {name for name in passed if not passed[name]} == NOT_SERVED[revision]


# --- The client of the tasks extension ------------------------------------------------------


@pytest.fixture(scope="session")
def tasks(fixtures_url, node_modules):
    """The output of the official client for the tasks of the fixtures."""
    script = Path(__file__).with_name("ext_tasks.cjs")
    command = [node_modules / ".bin" / "node", script, node_modules, fixtures_url]
    environment = {**os.environ, "NODE_PATH": str(node_modules)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_official_client_of_tasks_gets_results(tasks):
    assert tasks["worked"]["kind"] == "task"
    data = tasks["worked"]["result"]["structuredContent"]["data"]
    assert data == {"seconds": 0.2, "label": "some"}
    assert tasks["failed"]["result"]["isError"] is True


def test_the_official_client_of_tasks_asks_its_user(tasks):
    assert tasks["asked"] == ["Delete the file?"]
    assert tasks["answered"]["result"]["structuredContent"]["data"] == {"deleted": True}


def test_the_official_client_of_tasks_cancels_a_task(tasks):
    assert tasks["cancelled"]["status"] == "cancelled"


def test_the_official_client_of_tasks_gets_a_result_that_is_no_task(tasks):
    assert tasks["immediate"]["kind"] == "immediate"
    assert tasks["immediate"]["result"]["content"][0]["text"] == "Hello, Ada!"
