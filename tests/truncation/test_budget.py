"""The tokens that a result may have: by the setting, the tool, the client and BUDGET_CLASS."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import path

from drf_mcp.calls.budget import CLIENT_LIMIT_KEY, ToolBudget
from drf_mcp.truncation import count_tokens
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.truncation.conftest import LIMIT, Rows


def call(agent: Agent, name: str, limit: Any, **arguments: Any) -> str:
    """Return the text of a result for a client that takes at most this many tokens."""
    meta = {CLIENT_LIMIT_KEY: limit}
    result = agent.result("tools/call", name=name, arguments=arguments, _meta=meta)
    return result["content"][0]["text"]


@pytest.mark.slow
def test_a_client_may_lower_the_limit_of_the_setting(library, alice):
    """A value that is no integer is ignored."""
    library()
    for requested, most in ((1500, 1500), (10, 1000), (99_000, LIMIT)):
        tokens = count_tokens(call(alice, "rows", requested))
        # The random id of the archive takes about ten tokens more or fewer.
        assert most * 0.85 < tokens <= most, requested
    for requested in ("1500", None, True, 1.5, [1500]):
        assert count_tokens(call(alice, "rows", requested)) > 1800, requested


def test_slices_have_the_limit_of_the_client(library, alice):
    library(MAX_RESULT_TOKENS=10_000)
    meta = json.loads(call(alice, "rows", 2000))["meta"]
    (archive_id,) = meta["content_archive_hashes"]
    text = call(alice, "content_retrieve", 2000, archive_id=archive_id)
    assert 1300 < count_tokens(text) <= 2000
    assert "CONTENT_TRUNCATED" not in text


def test_slices_have_the_limit_of_the_endpoint(expose, alice):
    options = {"max_result_tokens": 2000}
    endpoint = MCPView.as_view(tool_options=options)
    archive = "drf_mcp.archives.CacheArchive"
    expose(path("rows/", Rows.as_view()), path("brief/mcp", endpoint), ARCHIVE_CLASS=archive)
    agent = Agent(alice.http, path="/brief/mcp")
    meta = json.loads(call(agent, "rows", None))["meta"]
    (archive_id,) = meta["content_archive_hashes"]
    text = call(agent, "content_retrieve", None, archive_id=archive_id)
    assert 1300 < count_tokens(text) <= 2000
    assert "CONTENT_TRUNCATED" not in text
    assert json.loads(text)["data"]["next_offset"] is not None


class Hasty(ToolBudget):
    """Counts words instead of tokens, and takes a fifth of the limit."""

    def get_limit(self, outcome):
        return super().get_limit(outcome) // 5

    def count_tokens(self, text):
        return len(text.split())


def test_the_budget_class_decides(library, alice):
    library(BUDGET_CLASS=Hasty, MAX_RESULT_TOKENS=10_000)
    text = alice.call("rows").raw["content"][0]["text"]
    assert 1900 * 4 < len(text) <= 2000 * 4
