"""The settings that the page on OAuth shows for one's own project give what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

from tests.documentation.pages import DOCS, ROOT, blocks, commands

PAGE = DOCS / "oauth.md"


@cache
def answers(*resource: str) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "tests.documentation.oauth", *resource],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_challenge_and_the_metadata_are_those_shown():
    challenge, metadata = (c.shown for c in commands(PAGE) if "curl -s" in c.text)
    assert f"WWW-Authenticate: {answers()['challenge']}\n" in challenge
    assert json.loads(metadata) == answers()["metadata"]


def test_a_token_for_the_host_lists_and_calls_tools():
    assert (answers()["list"], answers()["call"]) == (200, 200)
    said = json.loads(answers()["said"]["result"]["content"][0]["text"])
    assert said["data"] == {"name": "ada"}


def test_a_token_for_the_endpoint_alone_lists_tools_and_calls_none():
    found = answers("https://shop.example/mcp")
    assert (found["list"], found["call"]) == (200, 401)


def test_a_check_warns_of_tokens_for_the_endpoint_alone():
    assert answers("https://shop.example/mcp")["checks"] == ["drf_mcp.W019"]
    assert answers()["checks"] == []


def test_a_token_that_is_not_known_is_called_invalid():
    assert answers()["wrong"].startswith('Bearer error="invalid_token"')
    assert "resource_metadata=" in answers()["wrong"]


def test_a_call_that_lacks_a_scope_is_challenged_as_shown():
    (shown,) = (b.text for b in blocks(DOCS / "scopes.md") if "insufficient_scope" in b.text)
    refused = dict(answers()["refused"])
    assert refused.pop("Whoami") == ""
    assert len(refused) == 3
    for challenge in refused.values():
        assert f"WWW-Authenticate: {challenge}\n" in shown
