"""Each threat of the reference names a test that exists and is collected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "reference" / "threats.md"
HEADING = "| Threat | What holds against it | Shown by |"


def read_rows() -> list[list[str]]:
    table = PAGE.read_text().partition(HEADING)[2].partition("\n\n")[0]
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in table.splitlines()[2:]]
    assert len(rows) > 20
    return rows


ROWS = read_rows()


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The tests of the files that the page names, as pytest collects them."""
    files = sorted({row[2].strip("`").partition("::")[0] for row in ROWS})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(str(TESTS / file) for file in files)],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        line.partition("[")[0].removeprefix("tests/")
        for line in done.stdout.splitlines()
        if "::" in line
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_threat_has_an_answer_and_a_test(row, collected):
    threat, answer, test = row
    assert threat
    assert answer.endswith(".")
    assert re.fullmatch("`[^`]+`", test)
    assert test.strip("`") in collected


def test_no_threat_stands_twice():
    assert len({row[0] for row in ROWS}) == len(ROWS)
