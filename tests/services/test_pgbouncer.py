"""What transaction pooling takes away; the tests of two sites run through it at one of them."""

from __future__ import annotations

import httpx2
import psycopg
import pytest

from tests.services.machines import NAME, SOCKETS, PgBouncer, wait_until


def connect(**options):
    at = f"host={SOCKETS} port={PgBouncer.PORT} user=postgres dbname={NAME}"
    return psycopg.connect(at, autocommit=True, **options)


@pytest.fixture
def pools(machines):
    """Two clients of PgBouncer. A transaction of the second takes the connection of the first."""
    with connect() as first, connect() as second:
        yield first, second


def test_a_cursor_outside_a_transaction_is_lost(pools):
    first, second = pools
    first.execute("DECLARE rows CURSOR WITH HOLD FOR SELECT 1")
    with second.transaction():
        second.execute("SELECT 1")
        with pytest.raises(psycopg.errors.InvalidCursorName):
            first.execute("FETCH rows")


def test_a_setting_of_the_session_is_another_clients(pools):
    first, second = pools
    first.execute("SET statement_timeout = '7s'")
    assert second.execute("SHOW statement_timeout").fetchone() == ("7s",)


def test_a_setting_at_the_start_of_a_session_is_refused(machines):
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter"):
        connect(options="-c statement_timeout=7s")


def test_only_the_site_without_its_pgbouncer_is_not_ready(machines):
    def ask() -> dict[str, int]:
        found = {name: site.url for name, site in machines.sites.items()}
        return {
            n: httpx2.get(f"{url}/mcp/ready/", timeout=30).status_code for n, url in found.items()
        }

    machines.pgbouncer.stop()
    assert ask() == {"gunicorn": 200, "uvicorn": 503}
    machines.pgbouncer.start()
    wait_until(lambda: ask() == {"gunicorn": 200, "uvicorn": 200})
