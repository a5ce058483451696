"""Each way to sign in works when its settings and URLs are copied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.documentation.pages import ROOT
from tests.documentation.sign_in import WAYS

CHALLENGES = {
    "token": "Token",
    "session": 'Bearer realm="mcp"',
    "jwt": 'Bearer realm="api"',
    "own": (
        'Bearer realm="api", resource_metadata="https://shop.example/.well-known/'
        'oauth-protected-resource/mcp", scope="shop"'
    ),
}


def answers(way: str) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "tests.documentation.sign_in", way],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("way", WAYS)
def test_each_way_accepts_its_user_and_challenges_anonymous_callers(way):
    """No system check has a message about its settings."""
    found = answers(way)
    without = found.pop("without_header")
    assert found == {
        "list": 200,
        "said": {"name": "ada"},
        "stranger": 401,
        "challenge": CHALLENGES[way],
        "checks": [],
    }
    # A session without the header is refused.
    assert way != "session" or without == 403
