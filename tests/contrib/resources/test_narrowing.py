"""A tool that is excluded is no resource."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import include, path

from drf_mcp.calls.capability import ToolsCapability
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.dispatch.guards import Guard
from drf_mcp.outcomes import Category, Failure, Outcome
from drf_mcp.server import Server
from drf_mcp.views import MCPView
from tests.agents import Agent
from tests.contrib.tokens.holders import make_holder

URI = "shop://api/products/cast-iron-pan"


@pytest.fixture
def holder_of(db):
    """Return an agent with a narrowed token of alice."""

    def holder(**narrowed) -> Agent:
        return make_holder(User.objects.get(username="alice"), **narrowed)

    return holder


@pytest.fixture
def mount(settings, agent_of):
    """Serve the shop at a further endpoint, and return an agent of alice there."""

    def mount(**options) -> Agent:
        patterns = [
            path("here", MCPView.as_view(**options)),
            path("", include("example_project.urls")),
        ]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        agent = agent_of("alice")
        agent.path = "/here"
        return agent

    return mount


def templates_of(agent: Agent) -> set[str]:
    return {each["name"] for each in agent.result("resources/templates/list")["resourceTemplates"]}


def assert_excluded(agent: Agent) -> None:
    assert "products_retrieve" not in templates_of(agent)
    assert agent.error("resources/read", uri=URI)["message"] == "Resource not found"


def test_an_endpoint_without_the_tool_has_no_resource(mount):
    assert_excluded(mount(tools=["orders_*"]))


def test_a_toolset_in_a_header_excludes_resources(agent_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"orders": ["orders_*"]}}
    agent = agent_of("alice")
    agent.http.defaults["HTTP_MCP_TOOLSETS"] = "orders"
    assert_excluded(agent)


@pytest.mark.parametrize(("patterns", "is_left"), [(["products_*"], True), (["orders_*"], False)])
def test_a_narrowed_token_reads_the_resources_of_its_tools(holder_of, patterns, is_left):
    agent = holder_of(tools=patterns)
    answer = agent.request("resources/read", uri=URI)
    assert ("result" in answer) is is_left
    assert ("products_retrieve" in templates_of(agent)) is is_left


def test_guards_of_the_tools_guard_resources(mount):
    class Closed(Guard):
        def __call__(self, pending, proceed):
            failure = Failure("FORBIDDEN", Category.AUTHORIZATION, "Closed.", "Wait.")
            return Outcome(pending.tool.name, 403, failure=failure)

    class ClosedDispatcher(Dispatcher):
        def get_guards(self, pending):
            return [*super().get_guards(pending), Closed()]

    class ClosedTools(ToolsCapability):
        def make_dispatcher(self):
            return ClosedDispatcher()

    classes = [ClosedTools, *Server.capability_classes[1:]]
    agent = mount(server_class=type("Own", (Server,), {"capability_classes": classes}))
    assert agent.error("resources/read", uri=URI)["message"] == "Resource not found"
