"""The settings that the page on authentication shows for OAuth give what it says they give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

from tests.documentation.pages import DOCS, ROOT, commands

PAGE = DOCS / "authentication.md"


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
