"""Each page on a way to sign in can be copied whole: its settings and URLs let the user in."""

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
    "sign_in_token": "Token",
    "sign_in_session": 'Bearer realm="mcp"',
    "sign_in_jwt": 'Bearer realm="api"',
    "sign_in_own": (
        'Bearer realm="api", resource_metadata="https://shop.example/.well-known/'
        'oauth-protected-resource/mcp", scope="shop"'
    ),
}


def answers(page: str) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "tests.documentation.sign_in", page],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("page", WAYS)
def test_the_page_lets_its_user_in_and_challenges_strangers(page):
    """No check has anything to say of its settings."""
    found = answers(page)
    without = found.pop("without_header")
    assert found == {
        "list": 200,
        "said": {"name": "ada"},
        "stranger": 401,
        "challenge": CHALLENGES[page],
        "checks": [],
    }
    # A session alone is not enough.
    assert page != "sign_in_session" or without == 403
