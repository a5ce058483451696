"""The official conformance suite at a real server whose endpoint asks for no credentials."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.conformance.suite import run, serving

STATELESS_TOOL = "Not testable: server does not list the diagnostic tool"

# Scenario -> check -> what the suite says of it. The suite brings tools of its own for some
# checks.
BEYOND_REACH = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": STATELESS_TOOL,
        "sep-2575-missing-capability-http-400": STATELESS_TOOL,
        "sep-2575-http-server-no-independent-requests-on-stream": STATELESS_TOOL,
        "sep-2575-server-no-log-without-loglevel": STATELESS_TOOL,
    },
}

# Revision -> scenarios that the suite has for it and that need no tools of the suite's own.
SCENARIOS = {
    "2025-03-26": ["server-session-lifecycle"],
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
    """The shop on uvicorn, its endpoint open to anybody."""
    return server_of("uvicorn", settings="tests.interop.open_settings")


@pytest.fixture
def checks_of(open_endpoint, node_modules, tmp_path):
    """Run a scenario in a revision and return its checks."""

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
    """Every check passes but those beyond reach, which fail for the reason given."""
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


# What passes against the fixtures of `tests.conformance`, of what each revision requires.
REQUIRED = {
    "2025-11-25": [
        *("server-initialize", "ping", "completion-complete", "tools-list"),
        *("tools-call-simple-text", "tools-call-image", "tools-call-audio"),
        *("tools-call-embedded-resource", "tools-call-error", "server-sse-multiple-streams"),
        *("resources-list", "resources-read-text", "resources-read-binary"),
        *("resources-templates-read", "prompts-list", "prompts-get-simple"),
        *("prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
        "dns-rebinding-protection",
    ],
    "2026-07-28": [
        *("completion-complete", "tools-list", "tools-call-simple-text", "tools-call-image"),
        *("tools-call-audio", "tools-call-embedded-resource", "tools-call-error"),
        *("server-sse-multiple-streams", "resources-list", "resources-read-text"),
        *("resources-read-binary", "resources-templates-read", "sep-2164-resource-not-found"),
        *("prompts-list", "prompts-get-simple", "prompts-get-with-args"),
        *("prompts-get-embedded-resource", "prompts-get-with-image", "dns-rebinding-protection"),
        *("caching", "input-required-result-non-tool-request"),
        *("input-required-result-missing-input-response", "input-required-result-validate-input"),
        *("input-required-result-unsupported-methods", "input-required-result-ignore-extra-params"),
    ],
}


@pytest.fixture(scope="session")
def fixtures_url(tmp_path_factory):
    """The endpoint of the fixtures."""
    with serving("uvicorn", tmp_path_factory.mktemp("conformance")) as url:
        yield url


@pytest.mark.parametrize("revision", REQUIRED)
def test_what_passed_once_passes(fixtures_url, node_modules, revision):
    passed = run(revision, fixtures_url)["required"]
    assert [name for name in REQUIRED[revision] if not passed[name]] == []
