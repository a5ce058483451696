"""Every tool of the example project, for every kind of caller, against plain HTTP."""

from __future__ import annotations

import functools

import pytest

from drf_mcp.tools import registry
from tests.parity.answers import (
    assert_same_answer,
    body_of,
    called,
    expected_data,
    observed,
    over_http,
)
from tests.parity.shop_requests import REQUESTS, rows_of_alice

CALLERS = [None, "alice", "bob", "carol", "admin"]
PAGES = [request for request in REQUESTS if request.tool.endswith("_list")]

pytestmark = pytest.mark.usefixtures("open_endpoint", "stopped_clock", "built_index")


@pytest.fixture(params=CALLERS, ids=str)
def username(request) -> str | None:
    return request.param


def test_the_requests_cover_every_tool():
    # The figures of a list have no request: tests/contrib/aggregates holds them against its pages.
    named = {name for name, tool in registry.tools().items() if tool.endpoint.has_http_request}
    assert {request.tool for request in REQUESTS} == named - {"content_retrieve"}


@pytest.mark.slow
def test_a_tool_answers_and_does_what_the_request_does(username, http_of, agent_of, subtests):
    """The same verdict, the same data, the same rows and the same SQL."""
    http, agent, rows = http_of(username), agent_of(username), rows_of_alice()
    for request in REQUESTS:
        with subtests.test(request=str(request)):
            asked = request.about(rows)
            send = functools.partial(over_http, http, asked.method, asked.path, asked.body)
            response, expected = observed(send)
            call = functools.partial(called, agent, asked.tool, asked.arguments)
            result, effect = observed(call)
            assert_same_answer(response, result, many="ids" in asked.arguments)
            assert effect.tables == expected.tables
            assert effect.sql == expected.sql


@pytest.mark.slow
def test_every_result_keeps_to_its_tools_definition(alice):
    rows = rows_of_alice()
    for asked in (request.about(rows) for request in REQUESTS):
        observed(functools.partial(alice.call_with, asked.tool, asked.arguments))


def test_a_version_that_the_view_refuses_costs_the_authentication_alone(http_of, agent_of):
    """Over HTTP such a request is refused before anybody is authenticated."""
    http, agent = http_of("alice"), agent_of("alice")
    response, expected = observed(lambda: http.get("/api/v3/status/"))
    result, effect = observed(lambda: called(agent, "status", {"version": "v3"}))
    assert_same_answer(response, result)
    assert expected.sql == []
    assert ["authtoken_token" in sql for sql in effect.sql] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("username", ["alice", "carol"], indirect=True)
def test_the_next_page_is_the_one_that_the_link_leads_to(username, http_of, agent_of, subtests):
    rows = rows_of_alice()
    for request in PAGES:
        with subtests.test(request=str(request)):
            check_next_page(request.about(rows), http_of(username), agent_of(username))


def check_next_page(asked, http, agent) -> None:
    response = http.get(asked.path)
    if response.status_code >= 400:
        return
    page, result = body_of(response), called(agent, asked.tool, asked.arguments)
    pagination = result.envelope["meta"]["pagination"]
    assert pagination.get("total_count") == page.get("count")
    assert pagination["has_more"] is bool(page["next"])
    assert bool(pagination.get("next")) is bool(page["next"])
    if page["next"]:
        following = called(agent, asked.tool, pagination["next"])
        assert following.data == expected_data(body_of(http.get(page["next"])))


@pytest.mark.parametrize("username", ["alice"], indirect=True)
@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ("customers_list", "customers"),
        ("orders_list", "orders"),
        ("products_list", "products"),
        ("tickets_list", "tickets"),
    ],
)
def test_following_next_reaches_every_row_once(tool, path, username, http_of, agent_of):
    arguments, url, rows, expected = {}, f"/api/{path}/", [], []
    agent, http = agent_of(username), http_of(username)
    while arguments is not None:
        result = called(agent, tool, arguments)
        rows += result.data["results"]
        arguments = result.envelope["meta"]["pagination"].get("next")
    while url:
        page = body_of(http.get(url))
        expected += page["results"]
        url = page["next"]
    assert rows == expected
    assert len(rows) > 10
