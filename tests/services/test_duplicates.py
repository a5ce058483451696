"""Two workers of gunicorn with four threads each, on PostgreSQL and on SQLite.

`make test-services` runs them.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from urllib.parse import urlsplit

import pytest

from tests.programs.interop import servers

SOCKETS = os.environ.get("DRF_MCP_TEST_POSTGRESQL", "")
pytestmark = pytest.mark.skipif(not SOCKETS, reason="make test-services runs these tests")
NAME = "idempotency"
COMMAND = [
    *("-m", "gunicorn", "example_project.wsgi:application", f"--bind={servers.HOST}:{{port}}"),
    *("--workers=2", "--threads=4", "--no-control-socket"),
]
DUPLICATES = 8


@dataclass
class Client:
    """Calls tools with the token of a user, each on a new connection."""

    url: str
    token: str

    def send(self, method: str, path: str, body: object = None, **headers: str) -> dict:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        headers = {"Authorization": f"Token {self.token}", "Accept": "application/json", **headers}
        content = None if body is None else json.dumps(body)
        headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, content, headers)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def call(self, name: str, arguments: dict, **headers: str) -> dict:
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"MCP-Protocol-Version": "2025-11-25", **headers}
        return self.send("POST", "/mcp", message, **headers)["result"]["structuredContent"]

    def confirm(self, name: str, arguments: dict) -> dict:
        # The first answer asks for a confirmation, which frees the key.
        asked = self.call(name, arguments)["data"]
        return {**arguments, "confirmation": asked["confirmation"]}

    def find_order(self) -> int:
        return self.send("GET", "/api/orders/?status=paid")["results"][0]["id"]

    def count_orders(self) -> int:
        return self.call("orders_aggregate", {})["data"]["total"]["count"]


def run(*arguments: str, environment: dict) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command, cwd=servers.ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture(scope="module", params=["postgresql", "sqlite"])
def admin(request, tmp_path_factory) -> Iterator[Client]:
    """The shop with its rows on two workers, and the client of an administrator."""
    folder = tmp_path_factory.mktemp("shop")
    shop = servers.Shop(folder / "shop.sqlite3", f"{__package__}.served_settings")
    environment = shop.environment
    if request.param == "postgresql":
        psql = ["psql", "-q", "-h", SOCKETS, "-U", "postgres"]
        dropped = f"DROP DATABASE IF EXISTS {NAME}"
        subprocess.run([*psql, "-c", dropped, "-c", f"CREATE DATABASE {NAME}"], check=True)
        environment["DRF_MCP_SERVED_DATABASE"] = NAME
    run("demo", "--no-serve", environment=environment)
    token = run("drf_create_token", "admin", environment=environment).split()[2]
    port, log = servers.free_port(), folder / "log"
    command = [sys.executable, *(part.format(port=port) for part in COMMAND)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=servers.ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        servers.wait_until_ready(process, port, log)
        yield Client(f"http://{servers.HOST}:{port}", token)
    finally:
        servers.stop(process)


def send_duplicates(client: Client, tool: str, arguments: dict) -> list[dict]:
    barrier = Barrier(DUPLICATES)

    def call(_number: int) -> dict:
        barrier.wait()
        return client.call(tool, arguments)

    with ThreadPoolExecutor(DUPLICATES) as threads:
        return list(threads.map(call, range(DUPLICATES)))


def test_duplicates_of_a_refund_have_one_answer(admin):
    order = admin.find_order()
    arguments = {"pk": order, "reason": "damaged", "idempotency_key": f"refund-{order}"}
    arguments = admin.confirm("orders_refund", arguments)
    answers = send_duplicates(admin, "orders_refund", arguments)
    assert [answer["data"] for answer in answers] == [answers[0]["data"]] * DUPLICATES
    assert answers[0]["data"]["status"] == "refunded"
    assert sum("replayed" in answer["meta"] for answer in answers) == DUPLICATES - 1


def test_duplicates_of_an_order_place_one(admin):
    before = admin.count_orders()
    lines = [{"product": "cast-iron-pan", "quantity": 1}]
    arguments = {"customer": 1, "lines": lines, "idempotency_key": "one-pan"}
    answers = send_duplicates(admin, "orders_create", arguments)
    assert len({answer["data"]["number"] for answer in answers}) == 1
    assert admin.count_orders() == before + 1


def test_the_retry_after_a_lost_answer_has_the_first_answer(admin):
    order = admin.find_order()
    arguments = {"pk": order, "reason": "damaged", "idempotency_key": f"refund-{order}"}
    arguments = admin.confirm("orders_refund", arguments)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        admin.call("orders_refund", arguments, **{"X-Kill": "9"})
    answer = admin.call("orders_refund", arguments)
    assert answer["meta"]["replayed"] is True
    assert (answer["data"]["id"], answer["data"]["status"]) == (order, "refunded")
