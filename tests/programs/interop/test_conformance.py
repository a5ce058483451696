"""The official conformance suite at a real server with an open endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.programs.conformance.suite import run, serving

STATELESS_TOOL = "Not testable: server does not list the diagnostic tool"

# Scenario -> check -> the message of the suite. These checks need tools of the suite's own.
BEYOND_REACH = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": STATELESS_TOOL,
        "sep-2575-missing-capability-http-400": STATELESS_TOOL,
        "sep-2575-http-server-no-independent-requests-on-stream": STATELESS_TOOL,
        "sep-2575-server-no-log-without-loglevel": STATELESS_TOOL,
    },
}

# Revision -> scenarios of the suite for the revision that need no tools of the suite's own.
SCENARIOS = {
    "2025-06-18": ["server-initialize", "server-session-lifecycle", "ping", "tools-list"],
    "2025-11-25": [
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "dns-rebinding-protection",
    ],
    "2026-07-28": [
        "server-stateless",
        "tools-list",
        "dns-rebinding-protection",
        "http-header-validation",
        "caching",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
    ],
}
CASES = [(revision, scenario) for revision in SCENARIOS for scenario in SCENARIOS[revision]]


@pytest.fixture(scope="session")
def open_endpoint(server_of):
    """The shop on uvicorn, with an endpoint that is open to all callers."""
    return server_of("uvicorn", settings="tests.programs.interop.open_settings")


@pytest.fixture
def checks_of(open_endpoint, node_modules, tmp_path):
    """Run a scenario in a revision, and return its checks."""

    def run(revision: str, scenario: str) -> list[dict]:
        command = [node_modules / ".bin" / name for name in ("node", "conformance")]
        command += ["server", "--url", open_endpoint.url, "--output-dir", tmp_path]
        command += ["--scenario", scenario, "--spec-version", revision]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60)
        reports = list(tmp_path.glob("*/checks.json"))
        assert len(reports) == 1, printed.stdout + printed.stderr
        return json.loads(reports[0].read_text())

    return run


@pytest.mark.parametrize(("revision", "scenario"), CASES)
def test_server_conforms(checks_of, revision, scenario):
    """Every check passes except those in BEYOND_REACH, which fail with the message there."""
    checks = checks_of(revision, scenario)
    passing = [check for check in checks if check["status"] in {"SUCCESS", "INFO", "SKIPPED"}]
    failing = {
        check["id"]: check.get("errorMessage", check["status"])
        for check in checks
        if check not in passing
    }
    expected = BEYOND_REACH.get(scenario, {})
    unexpected = {
        name: message
        for name, message in failing.items()
        if name not in expected or expected[name] not in message
    }
    assert unexpected == {}
    assert failing.keys() == expected.keys()
    assert {check["status"] for check in passing} & {"SUCCESS", "INFO"}


# The scenarios that a revision requires and `tests.programs.conformance` does not serve: before
# 2026-07-28, requests of the server, subscriptions and log levels need a session.
NOT_SERVED = {
    "2025-11-25": {
        *("logging-set-level", "tools-call-with-logging", "tools-call-sampling"),
        *("resources-subscribe", "resources-unsubscribe"),
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
