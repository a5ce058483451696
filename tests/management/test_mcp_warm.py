"""``manage.py mcp_warm`` reports the cost of describing the tools."""

from __future__ import annotations

import json

import pytest

from drf_mcp.management.screen import UsageError


def test_the_output_has_tools_bytes_and_seconds_of_each_endpoint(run, shelves):
    code, text = run("mcp_warm")
    assert code == 0
    assert text.startswith("/mcp: ")
    assert all(noun in text for noun in ("tools, ", "bytes, described in ", "seconds."))


def test_json_has_the_figures(run, shelves):
    code, text = run("mcp_warm", "--json")
    (endpoint,) = json.loads(text)
    assert code == 0
    assert set(endpoint) == {"path", "tools", "bytes", "seconds"}
    assert endpoint["tools"] > 1
    assert endpoint["bytes"] > 100 * endpoint["tools"]


def test_tools_that_cannot_be_described_exit_with_2(run, shelves, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "EXPOSE": "everything"}
    with pytest.raises(UsageError) as refused:
        run("mcp_warm")
    assert refused.value.returncode == 2
