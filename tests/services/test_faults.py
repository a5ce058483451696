"""Calls during and after faults of workers, PostgreSQL, Redis and the disk."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.services.client import Listener, ReportedFailure
from tests.services.machines import wait_until
from tests.services.traffic import LINES, Tally, Traffic

CLIENTS = 8
SECONDS = 1.5


def test_the_other_site_repeats_the_call_of_a_killed_worker(machines, client_at, here, there):
    """The change of the killed worker is rolled back; the key writes it once."""
    pk, table = 10 if here == "gunicorn" else 11, "shop_customer"

    def find_tier() -> str:
        return machines.postgresql.execute(f"SELECT tier FROM {table} WHERE id = %s", pk)[0][0]

    before = find_tier()
    after = "silver" if before == "gold" else "gold"
    asked = {"pk": pk, "tier": after, "idempotency_key": f"tier-of-{pk}"}
    with ThreadPoolExecutor(1) as threads, machines.postgresql.locked(table, pk) as find_process:
        lost = threads.submit(client_at(here).call, "customers_partial_update", **asked)
        machines.sites[here].kill(find_process())
        with pytest.raises(ReportedFailure, match="connection lost"):
            lost.result()
    assert find_tier() == before
    made = client_at(there).envelope("customers_partial_update", **asked)
    again = client_at(here).envelope("customers_partial_update", **asked)
    assert made["data"]["tier"] == find_tier() == after
    assert ("replayed" in made["meta"], "replayed" in again["meta"]) == (False, True)


def test_the_first_calls_after_a_restart_of_postgresql_are_answered(machines, client_at, here):
    """Also if all connections of each process were open and are now broken."""
    clients = [client_at(here) for _ in range(32)]
    with ThreadPoolExecutor(len(clients)) as threads:
        list(threads.map(lambda client: client.call("orders_list", page_size=5), clients * 3))
    machines.postgresql.stop()
    probe = httpx2.Client(base_url=machines.sites[here].url, timeout=30)
    assert probe.get("/mcp/health/").status_code == 200
    unready = probe.get("/mcp/ready/")
    assert (unready.status_code, unready.json()["failed"]) == (503, ["database"])
    machines.postgresql.start()
    assert probe.get("/mcp/ready/").json() == {"status": "ok"}
    probe.close()
    for _worker in range(8):
        assert client_at(here).call("customers_retrieve", pk=1)["id"] == 1


def test_listeners_are_notified_of_everything_after_a_restart_of_redis(machines, client_at):
    uri = "shop://api/customers/3"
    listener = Listener(client_at("uvicorn"), toolsListChanged=True, resourceSubscriptions=[uri])
    machines.redis.stop()
    machines.redis.start()
    wait_until(lambda: listener.count("notifications/tools/list_changed"))
    wait_until(lambda: listener.count("notifications/resources/updated"))


def test_listeners_are_notified_after_a_restart_of_postgresql(machines, client_at, here):
    uri = "shop://api/customers/3"
    listener = Listener(client_at("uvicorn"), resourceSubscriptions=[uri])
    machines.postgresql.stop()
    machines.postgresql.start()
    client_at(here).call("customers_partial_update", pk=3, country="FR")
    wait_until(lambda: listener.count("notifications/resources/updated"))


def test_tasks_run_after_a_restart_of_postgresql(machines, client_at, make_task):
    machines.postgresql.stop()
    machines.postgresql.start()
    assert make_task("gunicorn", "uvicorn")["orders"] >= 120


def test_redis_is_stopped_under_traffic(machines):
    tally = Tally()
    with Traffic(machines, CLIENTS, tally):
        time.sleep(SECONDS)
        machines.redis.stop()
        time.sleep(SECONDS)
        machines.redis.start()
        time.sleep(SECONDS)
    # No throttle counts calls of these tools.
    assert (tally.wrong, dict(tally.errors)) == ([], {})


def test_a_throttle_without_redis_fails_as_over_http(machines, client_at, here):
    ticket = {"customer": 31, "subject": "Redis", "body": "Is it there?", "priority": 2}
    client = client_at(here, "alice")
    machines.redis.stop()
    try:
        with pytest.raises(ReportedFailure, match="INTERNAL_ERROR"):
            client.envelope("tickets_create", **ticket)
        plain = client.http.post("/api/tickets/", json=ticket)
        assert plain.status_code == 500
    finally:
        machines.redis.start()
    assert client.call("tickets_create", **{**ticket, "customer": 1})["subject"] == "Redis"


ARCHIVE = ("drf_mcp_archivedcontent", "drf_mcp_archivedchunk")


def test_a_full_disk_of_the_archive_shortens_without_archiving(machines, client_at, here):
    # Content that another test has archived would be found again.
    machines.postgresql.execute(f"TRUNCATE {', '.join(ARCHIVE)}")
    with machines.postgresql.full(*ARCHIVE):
        envelope = client_at(here).envelope("orders_list", page_size=100)
    meta = envelope["meta"]
    assert envelope["success"]
    assert 0 < len(envelope["data"]["results"]) < 100
    assert "content_archive_hashes" not in meta
    assert "ARCHIVE_UNAVAILABLE" in {detail["code"] for detail in meta["warning_details"]}
    assert "content_retrieve" not in str(meta["warning_details"])


EVERYTHING = (
    *(
        *ARCHIVE,
        "drf_mcp_writes_usedconfirmation",
        "drf_mcp_writes_idempotencyrecord",
        "drf_mcp_tasks_calltask",
    ),
    *("drf_mcp_audit_auditedcall", "shop_order"),
)


def test_a_full_disk_refuses_writes_and_not_reads(machines, client_at, here):
    """Reads succeed; writes that do not fit are refused, and nothing is written halfway."""
    client = client_at(here)
    order = client.call("orders_create", customer=1, lines=LINES)["id"]
    confirmed = client.envelope("orders_cancel", pk=order)["data"]["next"]
    count = "SELECT count(*), count(*) FILTER (WHERE status = 'cancelled') FROM shop_order"
    before = machines.postgresql.execute(count)
    with machines.postgresql.full(*EVERYTHING):
        assert client.call("customers_retrieve", pk=1)["id"] == 1
        with pytest.raises(ReportedFailure):
            client.envelope("orders_create", customer=1, lines=LINES, idempotency_key="full")
        with pytest.raises(ReportedFailure):
            client.envelope("orders_create", customer=1, lines=LINES)
        with pytest.raises(ReportedFailure):
            client.envelope("orders_cancel", **confirmed)
        assert machines.postgresql.execute(count) == before
    assert client.call("orders_cancel", **confirmed)["status"] == "cancelled"
