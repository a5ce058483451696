"""Two workers of gunicorn with four threads each, on PostgreSQL and on SQLite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.programs.interop import servers
from tests.services.client import Client, ReportedFailure
from tests.services.machines import PostgreSQL
from tests.services.traffic import LINES

NAME = "idempotency"
DUPLICATES = 8


@pytest.fixture(scope="module", params=["postgresql", "sqlite"])
def admin(request, tmp_path_factory) -> Iterator[Client]:
    """The client of an administrator of the shop."""
    folder = tmp_path_factory.mktemp("shop")
    shop = servers.Shop(folder / "shop.sqlite3", f"{__package__}.served_settings")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "postgresql":
            PostgreSQL().create(NAME)
            patch.setenv("DRF_MCP_SERVED_DATABASE", NAME)
        shop.seed()
        command = [sys.executable, "manage.py", "drf_create_token", "admin"]
        printed = subprocess.check_output(command, cwd=servers.ROOT, env=shop.environment)
        with servers.running("threads", shop, folder / "log") as server:
            client = Client(server.url.removesuffix("/mcp"), printed.decode().split()[2])
            yield client
            client.close()


def find_order(client: Client) -> int:
    return client.http.get("/api/orders/?status=paid").json()["results"][0]["id"]


def confirm_refund(client: Client) -> dict[str, Any]:
    """Return the arguments of a confirmed refund."""
    order = find_order(client)
    arguments = {"pk": order, "reason": "damaged", "idempotency_key": f"refund-{order}"}
    # The first answer asks for a confirmation, which frees the key.
    asked = client.envelope("orders_refund", **arguments)["data"]
    return {**arguments, "confirmation": asked["confirmation"]}


def send_duplicates(client: Client, tool: str, arguments: dict[str, Any]) -> list[dict]:
    barrier = Barrier(DUPLICATES)

    def call(_number: int) -> dict:
        barrier.wait()
        return client.envelope(tool, **arguments)

    with ThreadPoolExecutor(DUPLICATES) as threads:
        return list(threads.map(call, range(DUPLICATES)))


def test_duplicates_of_a_refund_have_one_answer(admin):
    answers = send_duplicates(admin, "orders_refund", confirm_refund(admin))
    assert [answer["data"] for answer in answers] == [answers[0]["data"]] * DUPLICATES
    assert answers[0]["data"]["status"] == "refunded"
    assert sum("replayed" in answer["meta"] for answer in answers) == DUPLICATES - 1


def test_duplicates_of_an_order_place_one(admin):
    def count() -> int:
        return admin.call("orders_aggregate")["total"]["count"]

    before = count()
    arguments = {"customer": 1, "lines": LINES, "idempotency_key": "one-pan"}
    answers = send_duplicates(admin, "orders_create", arguments)
    assert len({answer["data"]["number"] for answer in answers}) == 1
    assert count() == before + 1


def test_the_retry_after_a_lost_answer_has_the_first_answer(admin):
    arguments = confirm_refund(admin)
    admin.http.headers["X-Kill"] = "9"
    with pytest.raises(ReportedFailure, match="connection lost"):
        admin.call("orders_refund", **arguments)
    del admin.http.headers["X-Kill"]
    # Idle connections of the first client may lead to the killed worker.
    retrying = Client(admin.url, admin.token)
    answer = retrying.envelope("orders_refund", **arguments)
    retrying.close()
    assert answer["meta"]["replayed"] is True
    assert (answer["data"]["id"], answer["data"]["status"]) == (arguments["pk"], "refunded")
