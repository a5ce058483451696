"""A tool that is run by another tool answers as when it is called itself."""

from __future__ import annotations

import json
import uuid

import pytest

from drf_mcp.exposure import registry
from drf_mcp.observability.records import calls
from drf_mcp.signals import tool_called
from example_project.library.indexes import current_index
from example_project.shop.models import Customer, Order, Ticket
from tests.agents import Agent
from tests.parity.answers import observed
from tests.parity.conftest import NOW
from tests.parity.shop_requests import REQUESTS, ShopRequest, rows_of_alice

pytestmark = pytest.mark.django_db


def order_of(username: str, status: str = "paid") -> Order:
    return Order.objects.filter(customer__owner__username=username, status=status).first()


@pytest.fixture
def fixed_clock(monkeypatch) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    monkeypatch.setattr("uuid.uuid4", lambda: uuid.UUID(int=7))
    for model, name in ((Order, "placed_at"), (Ticket, "created")):
        monkeypatch.setattr(model._meta.get_field(name), "_get_default", lambda: NOW)


@pytest.mark.slow
def test_every_tool_answers_and_writes_as_when_it_is_called_itself(
    agent_of, configured, fixed_clock
):
    """The requests of the access matrix, and as bob the requests about rows of alice."""
    configured(INCLUDE=["PUT *"])
    rows = rows_of_alice()
    current_index()
    own = [request for request in REQUESTS if request.tool != "content_retrieve"]
    hers = {request.tool: request for request in own if "{" in str(request.arguments)}.values()
    for username, requests in (("alice", own), ("bob", hers)):
        for request in requests:
            check_run(agent_of(username), request.about(rows))


def check_run(agent: Agent, request: ShopRequest) -> None:
    direct, expected = observed(lambda: agent.call_with(request.tool, request.arguments))
    runner = "tools_read" if registry.tool(request.tool).reads else "tools_write"
    arguments = {"name": request.tool, "arguments": request.arguments}
    run, effect = observed(lambda: agent.call_with(runner, arguments))
    assert run.is_error == direct.is_error, request
    if run.is_error:
        assert run.code == direct.code, request
    else:
        assert run.data == direct.data, request
    assert effect == expected, request


# --- Refused runs ---------------------------------------------------------------------------


def test_tools_read_does_not_run_a_tool_that_writes(agent):
    order = order_of("alice")
    arguments = {"pk": order.pk, "reason": "late"}
    result = agent.call("tools_read", name="orders_refund", arguments=arguments)
    assert result.is_error
    assert result.data["remediation"] == "Call tools_write with the same name and arguments."
    assert "orders_refund changes something. Nothing was run." in result.envelope["error"]
    order.refresh_from_db()
    assert order.status == "paid"


def test_an_unknown_name_is_refused_with_the_nearest_visible_tool(agent):
    result = agent.call("tools_read", name="order_list")
    assert result.is_error
    assert result.data["remediation"].startswith("Did you mean orders_list")
    assert result.data["remediation"].endswith("find the name with tools_search.")


@pytest.mark.slow
def test_hidden_names_are_not_suggested(agent):
    hidden = set(registry.tools()) - set(agent.find_all(" ".join(registry.tools())))
    for name in hidden:
        result = agent.call("tools_read", name=f"{name}s")
        assert name not in result.data["remediation"].split()
    assert hidden


def test_the_three_tools_do_not_run_each_other(agent):
    result = agent.call("tools_read", name="tools_search")
    assert result.data["remediation"] == "Call tools_search itself."


@pytest.mark.slow
def test_malformed_arguments_are_located(agent, subtests):
    for arguments, pointer in (
        ({}, "/name"),
        ({"name": 3}, "/name"),
        ({"name": None}, "/name"),
        ({"name": "orders_list", "arguments": [1]}, "/arguments"),
        ({"name": "orders_list", "arguments": "status=paid"}, "/arguments"),
        ({"name": "orders_list", "status": "paid"}, "/status"),
    ):
        with subtests.test(arguments=arguments):
            (problem,) = agent.call("tools_read", **arguments).problems
            assert problem["pointer"] == pointer


# --- Errors about arguments -----------------------------------------------------------------


def test_the_pointer_of_an_unknown_argument_leads_into_arguments(agent):
    result = agent.run("orders_list", {"statu": "paid"})
    (problem,) = result.problems
    assert problem["pointer"] == "/arguments/statu"
    assert problem["remediation"].startswith("Did you mean 'status'?")
    assert result.data["details"]["field"] == "arguments.statu"
    assert result.envelope["error"] == "arguments.statu: Unknown argument."
    problem = agent.run("orders_create", {"total": "1.00"}).problems[-1]
    assert (problem["pointer"], problem["code"]) == ("/arguments/total", "read_only")
    assert problem["remediation"] == "Leave it out: the server sets it."


def test_the_pointer_of_an_error_of_the_view_leads_into_arguments(agent):
    customer = Customer.objects.filter(owner__username="alice").first()
    lines = [{"product": 10**9, "quantity": 1}]
    problems = agent.run("orders_create", {"customer": customer.pk, "lines": lines}).problems
    assert "/arguments/lines/0/product" in {problem["pointer"] for problem in problems}


# --- Guards -----------------------------------------------------------------------------------


@pytest.fixture
def new_customer():
    return {"name": "Ada", "email": "ada@mail.example", "country": "ES"}


@pytest.mark.slow
def test_a_scoped_throttle_of_the_endpoint_allows_runs_and_searches(agent, configured):
    throttle = "rest_framework.throttling.ScopedRateThrottle"
    configured(THROTTLE_CLASSES=[throttle])
    assert not agent.run("orders_list").is_error
    assert agent.search("order")["tools"]


def test_an_excluded_tool_is_refused_with_the_reason(agent, configured):
    configured(READ_ONLY=True)
    result = agent.call("tools_write", name="orders_refund", arguments={"pk": 1})
    assert "orders_refund is not available here" in result.envelope["error"]


# --- Logs, signals and the archive --------------------------------------------------------------


@pytest.mark.slow
def test_logs_and_signals_name_the_tool_that_ran(agent, caplog):
    names = []

    def receive(tool, **kwargs) -> None:
        names.append(tool.name)

    tool_called.connect(receive)
    try:
        with caplog.at_level("INFO", logger=calls.name):
            agent.run("orders_list", {"page_size": 1})
            agent.call("tools_read", name="nothing")
            agent.search("order")
    finally:
        tool_called.disconnect(receive)
    assert names == ["orders_list", "tools_read", "tools_search"]
    assert [record.tool for record in caplog.records] == names


def test_arguments_of_a_refused_run_are_not_logged(agent, configured, caplog):
    configured(LOG_ARGUMENTS=True)
    with caplog.at_level("INFO", logger=calls.name):
        agent.call("tools_read", name="users_create", arguments={"pin": "4711"})
        agent.run("orders_list", {"page_size": 1})
    refused, made = (record.arguments for record in caplog.records)
    assert (refused["name"], made) == ("users_create", {"page_size": 1})
    assert "4711" not in json.dumps(refused)
