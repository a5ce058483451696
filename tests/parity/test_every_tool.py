"""Every tool of the example project answers every kind of caller as plain HTTP does."""

from __future__ import annotations

import functools

import pytest

from drf_mcp.exposure import registry
from tests.parity.answers import assert_same_answer, body_of, expected_data, observed, over_http
from tests.parity.shop_requests import REQUESTS, rows_of_alice

CALLERS = [None, "alice", "bob", "carol", "admin"]
PAGES = [request for request in REQUESTS if request.tool.endswith("_list")]

pytestmark = pytest.mark.usefixtures("open_endpoint", "stopped_clock", "built_index")


@pytest.fixture(params=CALLERS, ids=str)
def username(request) -> str | None:
    return request.param


def test_the_requests_cover_every_tool():
    # Aggregates have no HTTP request: tests/contrib/aggregates compares them with pages.
    named = {name for name, tool in registry.tools().items() if tool.endpoint.has_http_request}
    assert {request.tool for request in REQUESTS} == named - {"content_retrieve"}


@pytest.mark.slow
def test_a_tool_answers_and_does_the_same_as_the_request(username, http_of, agent_of, subtests):
    """The status, the data, the written rows and the SQL are the same."""
    http, agent, rows = http_of(username), agent_of(username), rows_of_alice()
    for request in REQUESTS:
        with subtests.test(request=str(request)):
            sent = request.about(rows)
            send = functools.partial(over_http, http, sent.method, sent.path, sent.body)
            response, expected = observed(send)
            call = functools.partial(agent.call_with, sent.tool, sent.arguments)
            result, effect = observed(call)
            assert_same_answer(response, result, many="ids" in sent.arguments)
            assert effect.tables == expected.tables
            assert effect.sql == expected.sql


@pytest.mark.slow
def test_every_result_is_valid_by_the_definition_of_its_tool(alice):
    rows = rows_of_alice()
    for sent in (request.about(rows) for request in REQUESTS):
        observed(functools.partial(alice.call_with, sent.tool, sent.arguments))


def test_a_version_that_the_view_refuses_takes_only_the_query_of_the_authentication(
    http_of, agent_of
):
    """Over HTTP the request is refused before authentication."""
    http, agent = http_of("alice"), agent_of("alice")
    response, expected = observed(lambda: http.get("/api/v3/status/"))
    result, effect = observed(lambda: agent.call_with("status", {"version": "v3"}))
    assert_same_answer(response, result)
    assert expected.sql == []
    assert ["authtoken_token" in sql for sql in effect.sql] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("username", ["alice", "carol"], indirect=True)
def test_the_next_page_is_that_of_the_link(username, http_of, agent_of, subtests):
    rows = rows_of_alice()
    for request in PAGES:
        with subtests.test(request=str(request)):
            check_next_page(request.about(rows), http_of(username), agent_of(username))


def check_next_page(sent, http, agent) -> None:
    response = http.get(sent.path)
    if response.status_code >= 400:
        return
    page, result = body_of(response), agent.call_with(sent.tool, sent.arguments)
    pagination = result.envelope["meta"]["pagination"]
    assert pagination.get("total_count") == page.get("count")
    assert pagination["has_more"] is bool(page["next"])
    assert bool(pagination.get("next")) is bool(page["next"])
    if page["next"]:
        following = agent.call_with(sent.tool, pagination["next"])
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
def test_next_leads_to_every_row_once(tool, path, username, http_of, agent_of):
    arguments, url, rows, expected = {}, f"/api/{path}/", [], []
    agent, http = agent_of(username), http_of(username)
    while arguments is not None:
        result = agent.call_with(tool, arguments)
        rows += result.data["results"]
        arguments = result.envelope["meta"]["pagination"].get("next")
    while url:
        page = body_of(http.get(url))
        expected += page["results"]
        url = page["next"]
    assert rows == expected
    assert len(rows) > 10
