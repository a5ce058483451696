"""The queries of the dashboard of docs/observing.md, on the Prometheus server of Debian."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator

import httpx2
import pytest

from tests.documentation.pages import DOCS
from tests.programs.interop import servers
from tests.services.client import SECONDS, Client
from tests.services.machines import wait_until

DASHBOARD = json.loads((DOCS / "grafana.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture
def query(machines, tmp_path) -> Iterator[Callable[[str], list[float]]]:
    """Start Prometheus over both sites; returns the values of a query."""
    port = servers.free_port()
    sites = [f"{servers.HOST}:{site.port}" for site in machines.sites.values()]
    scraped = {
        "job_name": "shop",
        "scrape_interval": "1s",
        "static_configs": [{"targets": sites}],
        "authorization": {"type": "Token", "credentials": machines.tokens["admin"]},
    }
    # JSON is YAML.
    (tmp_path / "prometheus.yml").write_text(json.dumps({"scrape_configs": [scraped]}))
    options = {"config.file": tmp_path / "prometheus.yml", "storage.tsdb.path": tmp_path / "data"}
    options["web.listen-address"] = f"{servers.HOST}:{port}"
    command = ["prometheus", *(f"--{name}={value}" for name, value in options.items())]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def query(text: str) -> list[float]:
        url = f"http://{servers.HOST}:{port}/api/v1/query"
        answer = httpx2.get(url, params={"query": text}).json()
        assert answer["status"] == "success", answer
        return [float(found["value"][1]) for found in answer["data"]["result"]]

    try:
        servers.wait_until_ready(process, port, tmp_path / "log")
        wait_until(lambda: query("up") == [1.0, 1.0])
        yield query
    finally:
        servers.stop(process)


def make_calls(client: Client) -> None:
    client.request("tools/list")
    client.call("customers_list")
    client.envelope("orders_list", page_size=100)
    client.envelope("orders_retrieve", pk=0)
    httpx2.post(f"{client.url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})


def test_each_query_of_the_dashboard_has_numbers(client_at, query):
    clients = [client_at(site) for site in ("gunicorn", "uvicorn")]
    empty = set(QUERIES)

    def find_numbers() -> bool:
        for client in clients:
            make_calls(client)
        for text in list(empty):
            numbers = query(text.replace("$__rate_interval", "10s"))
            # A tool that was called before, and not lately, has no number.
            if any(number >= 0 for number in numbers):
                empty.discard(text)
        return not empty

    assert len(QUERIES) > len(DASHBOARD["panels"])
    try:
        wait_until(find_numbers)
    except TimeoutError:
        assert empty == set()


def read_calls(url: str, token: str) -> float:
    """Return how often a tool was called, as one process of a site says."""
    headers = {"Authorization": f"Token {token}"}
    answer = httpx2.get(f"{url}/metrics", headers=headers, timeout=SECONDS)
    tool = 'gen_ai_tool_name="products_list"'
    lines = [line for line in answer.text.splitlines() if "_seconds_count" in line and tool in line]
    return sum(float(line.split()[-1]) for line in lines)


def test_each_process_gives_the_numbers_of_all(machines, client_at):
    urls = [site.url for site in machines.sites.values()]
    before = read_calls(urls[0], machines.tokens["admin"])
    for site in machines.sites:
        for _ in range(8):
            client_at(site).call("products_list", limit=1)
    found = {read_calls(url, machines.tokens["admin"]) for url in urls for _ in range(4)}
    assert found == {before + 16}
