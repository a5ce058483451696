"""The HTTP API of the host is the same with and without drf_mcp."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def reports() -> tuple[dict, dict]:
    """The shop's answers and classes without drf_mcp, and with it after its tools were used."""
    settings = ("tests.parity.settings_without", "tests.parity.settings_with")
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.parity.host"],
            # The same seed, as an @api_view writes its Allow header from a set.
            env={**os.environ, "DJANGO_SETTINGS_MODULE": module, "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for module in settings
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return json.loads(outputs[0]), json.loads(outputs[1])


def test_every_response_is_the_same_to_the_byte(reports):
    """Status, headers, body and the number of queries are compared."""
    without, with_tools = reports
    assert len(without["answers"]) > 300
    for expected, answer in zip(without["answers"], with_tools["answers"], strict=True):
        assert answer == expected


def test_the_tools_were_used_in_one_process_only(reports):
    """Otherwise the comparison would prove nothing."""
    without, with_tools = reports
    assert (without["calls"], with_tools["calls"] > 100) == (0, True)
