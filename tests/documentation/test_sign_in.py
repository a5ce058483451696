"""Each way to sign in can be copied whole: its settings and URLs let the user in."""

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
def test_the_way_lets_its_user_in_and_challenges_strangers(way):
    """No check has anything to say of its settings."""
    found = answers(way)
    without = found.pop("without_header")
    assert found == {
        "list": 200,
        "said": {"name": "ada"},
        "stranger": 401,
        "challenge": CHALLENGES[way],
        "checks": [],
    }
    # A session alone is not enough.
    assert way != "session" or without == 403
