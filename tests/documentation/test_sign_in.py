"""Each page on a way to sign in can be copied whole: its settings and URLs let the user in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
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


@cache
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
def test_the_user_is_let_in_as_the_page_says(page):
    found = answers(page)
    assert (found["list"], found["said"]) == (200, {"name": "ada"})


@pytest.mark.parametrize("page", WAYS)
def test_strangers_are_challenged(page):
    found = answers(page)
    assert (found["stranger"], found["challenge"]) == (401, CHALLENGES[page])


@pytest.mark.parametrize("page", WAYS)
def test_checks_have_nothing_to_say(page):
    assert answers(page)["checks"] == []


def test_a_session_alone_is_not_enough():
    assert answers("sign_in_session")["without_header"] == 403
