"""``python -m benchmarks.waiting``: how fast a server answers while many calls wait.

A server of the shop holds 200 forms without an answer, or 200 streams with progress each second.
Meanwhile another client reads a customer, again and again.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2

from tests.programs.interop import servers
from tests.programs.interop.servers import HOST, ROOT, Shop, running

WAITING, READS = 200, 300
# A caller may have at most twenty open forms.
USERS = 12
GUNICORN = f"-m gunicorn example_project.wsgi:application --bind={HOST}:{{port}} --workers=2"
SERVERS = {
    "uvicorn": "-m uvicorn example_project.asgi:application --port={port} --log-level=warning",
    "gunicorn, 2 x 150 threads": f"{GUNICORN} --threads=150 --no-control-socket",
}
TOOLS = {"forms": "wait_for_answer", "streams": "tell_of_progress"}
MAKE_USERS = f"""
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token
for number in range({USERS}):
    user = User.objects.create_user(f"waiting{{number}}", is_staff=True)
    Token.objects.create(user=user, key=f"waiting{{number}}")
"""
ACCEPT = "application/json, text/event-stream"


def frame(method: str, params: Any, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def hold_call_open(url: str, tool: str, number: int, begun: Any) -> None:
    """Hold one waiting call open."""
    headers = {"Authorization": f"Token waiting{number % USERS}", "Accept": ACCEPT}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "benchmark", "version": "1"},
        }
        opened = await http.post(url, json=frame("initialize", params))
        headers = {
            "MCP-Protocol-Version": "2025-11-25",
            "Mcp-Session-Id": opened.headers["Mcp-Session-Id"],
        }
        call = {"name": tool, "arguments": {}, "_meta": {"progressToken": number}}
        message = frame("tools/call", call)
        async with http.stream("POST", url, json=message, headers=headers) as response:
            async for _line in response.aiter_lines():
                if number not in begun.seen:
                    begun.seen.add(number)
                    begun.count.value += 1


class Begun:
    """Counts the waiting calls."""

    def __init__(self) -> None:
        self.count = multiprocessing.Value("i", 0)
        self.seen: set[int] = set()


def hold_calls_open(url: str, tool: str, begun: Begun) -> None:
    async def run() -> None:
        await asyncio.gather(
            *(hold_call_open(url, tool, number, begun) for number in range(WAITING))
        )

    asyncio.run(run())


def read_again_and_again(url: str, token: str) -> tuple[float, float]:
    """Return the median milliseconds of the answers, and their 95th percentile."""
    taken = []
    headers = {"Authorization": f"Token {token}", "MCP-Protocol-Version": "2025-11-25"}
    with httpx2.Client(headers=headers, timeout=60) as http:
        listed = http.post(url, json=frame("tools/call", {"name": "customers_list"})).json()
        first = listed["result"]["structuredContent"]["data"]["results"][0]["id"]
        call = frame("tools/call", {"name": "customers_retrieve", "arguments": {"pk": first}})
        for _ in range(READS):
            began = time.perf_counter()
            answer = http.post(url, json=call).json()
            taken.append((time.perf_counter() - began) * 1000)
            assert not answer["result"].get("isError"), answer
            time.sleep(0.01)
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def measure(url: str, token: str, kind: str) -> tuple[float, float]:
    """Measure reads during waiting calls of one kind, "" for none."""
    if not kind:
        return read_again_and_again(url, token)
    begun = Begun()
    holder = multiprocessing.Process(
        target=hold_calls_open, args=(url, TOOLS[kind], begun), daemon=True
    )
    holder.start()
    try:
        until = time.monotonic() + 60
        while begun.count.value < WAITING:
            if time.monotonic() > until:
                raise TimeoutError(f"{begun.count.value} of {WAITING} {kind} wait")
            time.sleep(0.1)
        return read_again_and_again(url, token)
    finally:
        holder.kill()
        holder.join()


def main() -> None:
    """Print the table."""
    print(f"| | alone | with {WAITING} forms | with {WAITING} streams |\n|---|--:|--:|--:|")  # noqa: T201
    for name, command in SERVERS.items():
        servers.COMMANDS["measured"] = command.split()
        with tempfile.TemporaryDirectory() as folder:
            shop = Shop(Path(folder) / "shop.sqlite3", "benchmarks.waiting_settings")
            shop.seed()
            make = [sys.executable, "manage.py", "shell", "--no-imports", "-c", MAKE_USERS]
            subprocess.run(make, cwd=ROOT, env=shop.environment, check=True)
            cells = []
            for kind in ("", *TOOLS):
                with running("measured", shop, Path(folder) / "log") as server:
                    median, most = measure(server.url, shop.tokens["alice"], kind)
                cells.append(f"{median:.0f} / {most:.0f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
