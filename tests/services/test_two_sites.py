"""Both sites share their state: gunicorn and uvicorn over one PostgreSQL and one Redis."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest

from tests.programs.interop.python_sdk import connected
from tests.services.client import Listener, WrongAnswer
from tests.services.machines import wait_until

LINES = [{"product": "cast-iron-pan", "quantity": 1}]


def find_archive(envelope: dict) -> str:
    (archive_id,) = envelope["meta"]["content_archive_hashes"]
    return archive_id


def test_content_archived_at_one_site_is_read_at_the_other(client_at, here, there):
    long = client_at(here).envelope("orders_list", page_size=100)
    kept = [row["id"] for row in long["data"]["results"]]
    rest = client_at(there).call("content_retrieve", archive_id=find_archive(long))
    fetched = [item["value"]["id"] for item in rest["items"]]
    assert len(kept) < 100
    assert len({*kept, *fetched}) == len(kept) + len(fetched) == 100


def test_another_user_cannot_read_it_there(client_at, here, there):
    archive_id = find_archive(client_at(here).envelope("orders_list", page_size=100))
    refused = client_at(there, "alice").envelope("content_retrieve", archive_id=archive_id)
    assert refused["data"]["error_code"] == "NOT_FOUND"


def test_the_sites_share_a_throttle(client_at):
    clients = [client_at("gunicorn", "bob"), client_at("uvicorn", "bob")]
    ticket = {"customer": 31, "body": "Is it there?", "priority": 2}
    opened = [
        clients[number % 2].envelope("tickets_create", subject=f"Number {number}", **ticket)
        for number in range(22)
    ]
    assert [envelope["success"] for envelope in opened] == [True] * 20 + [False] * 2
    for refused in opened[20:]:
        assert refused["data"]["error_code"] == "RATE_LIMIT_EXCEEDED"
        assert 0 < refused["data"]["retry_after_seconds"] <= 3600


def test_a_confirmation_is_accepted_once_by_the_other_site(client_at, here, there):
    order = client_at(here).call("orders_create", customer=1, lines=LINES)["id"]
    asked = client_at(here).envelope("orders_cancel", pk=order)["data"]
    done = client_at(there).call("orders_cancel", **asked["next"])
    assert done["status"] == "cancelled"
    again = client_at(here).envelope("orders_cancel", **asked["next"])
    assert not again["success"]


def test_a_write_with_a_key_runs_once_on_both_sites(client_at, here, there):
    asked = {"customer": 1, "lines": LINES, "idempotency_key": f"once-at-{here}"}
    first = client_at(here).call("orders_create", **asked)
    again = client_at(there).envelope("orders_create", **asked)
    assert again["meta"]["replayed"] is True
    assert again["data"] == first | {"url": again["data"]["url"]}


def test_a_task_of_one_site_is_read_at_the_other(make_task, here, there):
    assert make_task(here, there)["orders"] >= 120


def test_an_agent_token_is_valid_at_both_sites_until_it_is_revoked(machines, client_at):
    key = machines.manage("mcp_token", "create", "alice", "support", "--read-only").strip()
    clients = [client_at(site, token=key, scheme="Bearer") for site in machines.sites]
    for client in clients:
        assert client.call("customers_retrieve", pk=1)["id"] == 1
    machines.manage("mcp_token", "revoke", key.rpartition("_")[0] or key)
    for client in clients:
        with pytest.raises(WrongAnswer, match="401"):
            client.call("customers_retrieve", pk=1)


def test_the_audit_has_the_calls_of_both_sites(machines, client_at):
    subjects = [client_at(s).envelope("stats")["meta"]["request_id"] for s in machines.sites]
    recorded = (
        "SELECT request_id, user_label FROM drf_mcp_audit_auditedcall WHERE request_id = ANY(%s)"
    )
    # A thread of each process writes its records within a second.
    wait_until(lambda: len(machines.postgresql.execute(recorded, subjects)) == len(subjects))
    rows = machines.postgresql.execute(recorded, subjects)
    assert sorted(rows) == sorted((request_id, "admin") for request_id in subjects)


def test_listeners_are_notified_of_changes_at_both_sites(client_at, here):
    listener = Listener(client_at("uvicorn"), resourceSubscriptions=["shop://api/customers/3"])
    client_at(here).call("customers_partial_update", pk=3, country="FR")
    wait_until(lambda: listener.count("notifications/resources/updated"))


def test_listeners_hold_no_database_connection(machines, client_at):
    """More clients than connections in the site's pools: calls still work."""
    # One process may get all of them, and a user may have 20 streams in it.
    for user in ("admin", "alice") * 10:
        Listener(client_at("uvicorn", user), toolsListChanged=True)
    assert client_at("uvicorn").call("customers_retrieve", pk=1)["id"] == 1


def test_an_idle_connection_stays_open(machines):
    """By default gunicorn closes it after 2 s and uvicorn after 5, and a client loses a call."""
    hosts = [site.url.removeprefix("http://") for site in machines.sites.values()]
    with ExitStack() as stack:
        kept = [stack.enter_context(closing(HTTPConnection(host))) for host in hosts]
        for connection in kept:
            connection.request("GET", "/mcp")
            connection.getresponse().read()
        sockets = [connection.sock for connection in kept]
        time.sleep(6)
        for connection in kept:
            connection.request("GET", "/mcp")
            assert connection.getresponse().status == 405
        assert [connection.sock for connection in kept] == sockets


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_the_official_client_may_change_the_site(machines, here, there, revision):
    sites = [SimpleNamespace(url=machines.sites[site].url + "/mcp") for site in (here, there)]

    async def work() -> None:
        async with connected(sites[0], machines.tokens["admin"], revision) as first:
            long = await first.call("orders_list", page_size=100)
        async with connected(sites[1], machines.tokens["admin"], revision) as second:
            rest = await second.call("content_retrieve", archive_id=find_archive(long))
        assert len(long["data"]["results"]) + len(rest["data"]["items"]) == 100

    asyncio.run(work())
