"""The settings on the page about OAuth give the answers that the page shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.documentation.pages import DOCS, ROOT, blocks, commands

PAGE = DOCS / "oauth.md"


@pytest.fixture(scope="module")
def all_answers() -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "tests.documentation.oauth"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def answers(all_answers) -> dict[str, Any]:
    return all_answers["own"]


def test_the_challenge_and_the_metadata_are_those_shown(answers):
    challenge, metadata = (c.shown for c in commands(PAGE) if "curl -s" in c.text)
    assert f"WWW-Authenticate: {answers['challenge']}\n" in challenge
    assert json.loads(metadata) == answers["metadata"]


def test_a_token_for_the_host_lists_and_calls_tools(answers):
    assert (answers["list"], answers["call"], answers["checks"]) == (200, 200, [])
    said = json.loads(answers["said"]["result"]["content"][0]["text"])
    assert said["data"] == {"name": "ada"}


def test_a_token_for_the_endpoint_alone_calls_no_tool_and_a_check_reports_it(all_answers):
    found = all_answers["endpoint"]
    assert (found["list"], found["call"], found["checks"]) == (200, 401, ["drf_mcp.W019"])


def test_an_unknown_token_is_answered_with_invalid_token(answers):
    assert answers["wrong"].startswith('Bearer error="invalid_token"')
    assert "resource_metadata=" in answers["wrong"]


def test_a_call_without_a_scope_gets_the_challenge_of_the_page(answers):
    (shown,) = (b.text for b in blocks(PAGE) if "insufficient_scope" in b.text)
    refused = dict(answers["refused"])
    assert refused.pop("Whoami") == ""
    assert len(refused) == 3
    for challenge in refused.values():
        assert f"WWW-Authenticate: {challenge}\n" in shown
