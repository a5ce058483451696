"""Resources are off unless RESOURCES switches them on, or a tool has a page."""

from __future__ import annotations

import pytest
from django.urls import path

from example_project.shop.views import ProductViewSet
from tests.agents import REVISIONS

METHODS = ["resources/list", "resources/templates/list", "resources/read"]
PARAMS = {"resources/read": {"uri": "shop://api/products/cast-iron-pan"}}


@pytest.fixture
def off(expose):
    expose(path("api/products/", ProductViewSet.as_view({"get": "list"})), RESOURCES=False)


def capabilities_of(agent) -> dict:
    if agent.revision == "2026-07-28":
        return agent.result("server/discover")["capabilities"]
    client = {"name": "tests", "version": "1"}
    shake = {"protocolVersion": agent.revision, "capabilities": {}, "clientInfo": client}
    return agent.result("initialize", **shake)["capabilities"]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", METHODS)
def test_its_methods_are_unknown(off, agent_of, revision, method):
    error = agent_of("alice", revision=revision).error(method, **PARAMS.get(method, {}))
    assert error["code"] == -32601


@pytest.mark.parametrize("revision", REVISIONS)
def test_it_is_not_declared(off, agent_of, revision):
    assert "resources" not in capabilities_of(agent_of("alice", revision=revision))


@pytest.mark.parametrize("revision", REVISIONS)
def test_switched_on_it_is_declared(shop_resources, agent_of, revision):
    assert capabilities_of(agent_of("alice", revision=revision))["resources"] == {}
