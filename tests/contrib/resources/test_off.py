"""Without the app in INSTALLED_APPS an endpoint declares and serves no resources."""

from __future__ import annotations

import pytest
from django.test import modify_settings

from tests.agents import REVISIONS

METHODS = ["resources/list", "resources/templates/list", "resources/read"]


def capabilities_of(agent) -> dict:
    if agent.revision == "2026-07-28":
        return agent.result("server/discover")["capabilities"]
    client = {"name": "tests", "version": "1"}
    shake = {"protocolVersion": agent.revision, "capabilities": {}, "clientInfo": client}
    return agent.result("initialize", **shake)["capabilities"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_without_the_app_there_are_no_resources(agent_of, revision):
    alice = agent_of("alice", revision=revision)
    assert capabilities_of(alice)["resources"] == {}
    with modify_settings(INSTALLED_APPS={"remove": ["drf_mcp.contrib.resources"]}):
        assert "resources" not in capabilities_of(alice)
        for method in METHODS:
            params = {"uri": "shop://api/products/cast-iron-pan"} if "read" in method else {}
            assert alice.error(method, **params)["code"] == -32601
