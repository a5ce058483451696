"""A narrowed token opens fewer tools than its user may call, on every transport."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import include, path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.routers import SimpleRouter

from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.exposure import registry
from drf_mcp.server import Server
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from example_project.shop.models import Customer, Product, Ticket
from tests.agents import Agent
from tests.contrib.tokens.views import RUNS, CountedViewSet

NEW_CUSTOMER = {"name": "Eve", "email": "eve@shop.example"}
READS = {"orders_list", "orders_retrieve", "orders_aggregate", "orders_export"}


def names_of(agent: Agent) -> set[str]:
    return set(agent.tools()) - {"content_retrieve"}


def assert_not_offered(result: Any, name: str, reason: str) -> None:
    assert result.is_error
    assert result.code == "FORBIDDEN"
    assert result.envelope["error"] == f"{name} is not available here: this token {reason}."


# --- A read-only token writes nothing ----------------------------------------------------------


@pytest.fixture
def unchanged(db):
    """Check after the test that no row of the shop has changed."""
    before = {m: list(m.objects.order_by("pk").values()) for m in (Customer, Ticket, Product)}
    yield
    for model, rows in before.items():
        assert list(model.objects.order_by("pk").values()) == rows


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_a_single_message_writes_nothing(holder_of, revision):
    agent = holder_of("admin", revision=revision, read_only=True)
    result = agent.call("customers_create", **NEW_CUSTOMER)
    assert_not_offered(result, "customers_create", "only has tools that read")


@pytest.mark.usefixtures("unchanged")
def test_stdio_writes_nothing(issue):
    _, key = issue("admin", read_only=True)
    written: list[bytes] = []
    connection = StdioConnection(
        Server(registry), lambda: LocalEndpoint().make_caller(None, f"Bearer {key}"), written.append
    )
    for number, (name, arguments) in enumerate([("customers_create", NEW_CUSTOMER), ("stats", {})]):
        message, _ = Agent(Client()).frame("tools/call", {"name": name, "arguments": arguments})
        connection.answer(connection.receive(json.dumps({**message, "id": number}).encode()))
    answers = [json.loads(line)["result"] for line in written]
    assert [answer.get("isError", False) for answer in answers] == [True, False]
    assert "this token only has tools that read" in answers[0]["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.usefixtures("unchanged")
def test_the_page_shows_no_writing_tool_and_writes_nothing(issue, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}
    _, key = issue("admin", read_only=True)
    client = Client(headers={"authorization": f"Bearer {key}", "accept": "text/html"})
    assert "customers_list" in client.get("/mcp").content.decode()
    assert "customers_create" not in client.get("/mcp").content.decode()
    assert client.get("/mcp?tool=customers_create").status_code == 404
    result = Agent(client).call("customers_create", **NEW_CUSTOMER)
    assert_not_offered(result, "customers_create", "only has tools that read")


@pytest.mark.slow
def test_archived_content_needs_a_token_for_its_tool(holder_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RESULT_TOKENS": 1000}
    wide, narrow = holder_of("alice"), holder_of("alice", tools=["orders_*"])
    result = wide.call("customers_list", page_size=100)
    archive_id = next(iter(result.envelope["meta"]["content_archive_hashes"]))
    assert not wide.call("content_retrieve", archive_id=archive_id).is_error
    refused = narrow.call("content_retrieve", archive_id=archive_id)
    assert refused.code == "NOT_FOUND"


# --- Excluded tools never run their view ----------------------------------------------------------


@pytest.fixture
def counted(expose):
    router = SimpleRouter()
    router.register("counted", CountedViewSet, basename="counted")
    expose(path("api/", include(router.urls)))
    RUNS.clear()
    return RUNS


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-06-18"])
def test_an_excluded_tool_never_reaches_the_view(holder_of, counted, revision):
    agent = holder_of(tools=["counted_list"], revision=revision)
    pk = Product.objects.first().pk
    assert_not_offered(agent.call("counted_destroy", pk=pk), "counted_destroy", "does not have it")
    assert counted == []
    assert not agent.call("counted_list").is_error
    assert counted == ["list"]


def test_an_excluded_tool_reads_none_of_several_objects(holder_of, counted):
    agent = holder_of(tools=["counted_list"])
    ids = [product.pk for product in Product.objects.all()[:3]]
    result = agent.call("counted_retrieve", ids=ids)
    assert_not_offered(result, "counted_retrieve", "does not have it")
    assert counted == []


def test_a_view_with_its_own_authentication_is_narrowed_too(holder_of, expose, counted):
    own = type("OwnViewSet", (CountedViewSet,), {})
    own.authentication_classes = [AgentTokenAuthentication]
    router = SimpleRouter()
    router.register("own", own, basename="own")
    expose(path("api/", include(router.urls)))
    agent = holder_of(read_only=True)
    result = agent.call("own_create", name="x")
    assert_not_offered(result, "own_create", "only has tools that read")
    assert counted == []
    assert not agent.call("own_list").is_error


# --- Never more than the user -----------------------------------------------------------------

PATTERNS = ["orders_*", "*_list", "GET *", "/api/customers/*", "tag:retrieval", "*", "none_such"]
NARROWINGS = st.fixed_dictionaries(
    {
        "username": st.sampled_from(["alice", "carol", "admin"]),
        "tools": st.lists(st.sampled_from(PATTERNS), max_size=3),
        "read_only": st.booleans(),
    }
)


@pytest.mark.slow
@given(narrowing=NARROWINGS, data=st.data())
def test_any_token_lists_and_calls_a_part_of_the_tools_of_its_user(
    issue, holder, agent_of, narrowing, data
):
    """A token calls exactly the tools that it lists, and its user sees each of them."""
    with transaction.atomic():
        _, key = issue(**narrowing)
        token_agent = holder(key)
        user_agent = agent_of(narrowing["username"])
        listed, of_user = names_of(token_agent), names_of(user_agent)
        assert listed <= of_user
        name = data.draw(st.sampled_from(sorted(of_user)), "tool")
        answer = token_agent.call_with(name, {"no_such_argument": 1})
        offered = "is not available here" not in answer.envelope["error"]
        assert offered is (name in listed)
        if not narrowing["tools"] and not narrowing["read_only"]:
            assert listed == of_user
        transaction.set_rollback(True)


@pytest.mark.slow
def test_a_token_loses_the_permissions_that_its_user_loses(holder_of):
    agent = holder_of("carol")
    User.objects.filter(username="carol").update(is_staff=False)
    tools = names_of(agent)
    assert tools < names_of(holder_of("admin"))
    assert AgentToken.objects.filter(user__username="carol").exists()
