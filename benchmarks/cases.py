"""What is measured: calls, lists, and processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import fresh
from benchmarks.comparing import measure, succeeds
from benchmarks.many import make_urlconf
from benchmarks.requests import Client, Request, Server
from example_project.shop.models import Customer

CUSTOMER = {"name": "Benchmark", "email": "benchmark@example.com", "country": "SE"}
# The most SQL statements of a page over the budget, and the most memory of a start.
MORE_STATEMENTS, START_MEGABYTES = 3, 8


@dataclass(frozen=True)
class Found:
    """A figure (less is better), what it is made of, and what else is wrong."""

    figure: float
    note: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Case:
    """A figure that can be measured, and the most that passes."""

    name: str
    bar: float
    measure: Callable[[], Found]


def find_cases(rounds: int) -> Iterator[Case]:
    """Yield the cases; each is prepared when it is reached."""
    server, alice = Server(), Client.of("alice")
    for name, bar, more, plain, call in find_calls(server, alice):
        yield Case(name, bar, partial(compare, server, plain, call, more, rounds))
    for tools, bar in ((51, 2), (1002, 10)):
        request = Client.of("admin").listing(settings=serve_many(tools))
        yield Case(f"the list of {tools} tools, ms", bar, partial(alone, server, request, rounds))
    yield Case(f"the first list of {fresh.DESCRIBED} tools, s", 2.5, describe)
    yield Case("start and first call of a bare project, more s", 0.3, start)


def find_calls(server: Server, alice: Client) -> Iterator[tuple[str, float, int, Request, Request]]:
    """Yield name, bar, statements that may be more, the plain request, and the call."""
    pk = Customer.objects.filter(owner__username="alice").values_list("pk", flat=True)[0]
    customers, orders = "/api/customers/", "/api/orders/"
    page, long_page = {"page_size": 20}, {"page_size": 100}
    refused = {**CUSTOMER, "email": "nobody"}
    get, post = partial(alice.plain, "GET"), partial(alice.plain, "POST", customers)
    call = alice.call
    yield (
        *("read one row", 1.15, 0),
        *(get(f"{customers}{pk}/"), call("customers_retrieve", {"id": pk})),
    )
    yield "a page of 20", 1.15, 0, get(customers, query=page), call("customers_list", page)
    yield "a page of 20, nested", 1.15, 0, get(orders, query=page), call("orders_list", page)
    yield "a create", 1.15, 0, post(body=CUSTOMER), call("customers_create", CUSTOMER)
    yield "a create, refused", 1.35, 0, post(body=refused), call("customers_create", refused)
    yield (
        *("a page over the budget", 1.4, MORE_STATEMENTS),
        *(get(orders, query=long_page), call("orders_list", long_page)),
    )


def serve_many(tools: int) -> dict[str, Any]:
    # The archive has a tool of its own.
    served = {"EXPOSE": "urlconf", "ARCHIVE_CLASS": None}
    return {"ROOT_URLCONF": make_urlconf(tools), "DRF_MCP": served}


def compare(server: Server, plain: Request, call: Request, more: int, rounds: int) -> Found:
    if succeeds(server, plain) != succeeds(server, call):
        raise RuntimeError(f"One of the two requests fails: {plain}, {call}")
    expected, cost = measure(server, plain, call, rounds=rounds)
    statements = f"{cost.statements} of {expected.statements} SQL"
    note = f"{cost.milliseconds:.2f} of {expected.milliseconds:.2f} ms, {statements}"
    fault = statements if cost.statements > expected.statements + more else ""
    return Found(cost.milliseconds / expected.milliseconds, note, fault)


def alone(server: Server, request: Request, rounds: int) -> Found:
    (cost,) = measure(server, request, rounds=rounds)
    return Found(cost.milliseconds, f"{cost.statements} SQL")


def describe() -> Found:
    return Found(fresh.run("describe")[0])


def start() -> Found:
    """Return what a process takes with the app beyond the same process without it."""
    (seconds, megabytes), (plain_seconds, plain_megabytes) = (
        [min(each) for each in zip(*(fresh.run(kind) for _ in range(3)), strict=True)]
        for kind in (fresh.SERVED, fresh.PLAIN)
    )
    more = f"{megabytes - plain_megabytes:.1f} MB more"
    fault = more if megabytes - plain_megabytes > START_MEGABYTES else ""
    return Found(seconds - plain_seconds, more, fault)
