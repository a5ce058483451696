"""The table of every tool for every credential, as ``make access-matrix`` prints it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITES = (
    *("_create", "_update", "_destroy", "_deactivate"),
    *("_cancel", "_refund", "_reopen", "_reorder"),
)


@pytest.fixture(scope="module")
def printed() -> list[str]:
    command = ["make", "--no-print-directory", "access-matrix", "ARGUMENTS=shop"]
    # The variables of the make that started these tests are removed.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def cells(printed) -> dict[str, dict[str, str]]:
    names = printed[0].replace("no scope", "scopeless").split()
    rows = [line.split() for line in printed[1:-1]]
    return {tool: dict(zip(names, found, strict=True)) for tool, *found in rows}


def test_no_tool_answers_differently_from_http(printed, cells):
    assert printed[-1].endswith("0 different (!)")
    assert len(cells) > 40
    for credential in ("plain", "owner", "staff", "token", "OAuth"):
        assert {row[credential][-1] for row in cells.values()} == {"="}, credential


def test_a_narrowed_token_reads_like_its_user_and_writes_nothing(cells):
    for tool, row in cells.items():
        writes = tool.endswith(WRITES)
        assert row["narrowed"] == ("403-" if writes else row["owner"]), tool


def test_without_a_credential_or_a_scope_no_tool_answers(cells):
    assert {row["anonymous"][:3] for row in cells.values()} == {"401"}
    assert {row["scopeless"][:3] for row in cells.values()} == {"403"}
