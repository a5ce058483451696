"""``python -m benchmarks.peers.worker``: one package in a process of its own, by JSON lines.

Runs with the interpreter of the package and the settings of `benchmarks.peers.settings`. With
``--prepare`` it creates the database, and for FastMCP the OpenAPI document. With ``--first`` it
answers one request and ends.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import django

from benchmarks.requests import Client, Request

WARMING = 5
IN_A_ROW = 3
EMAIL = "benchmark@example.com"
CUSTOMER = {"name": "Benchmark", "email": EMAIL, "country": "SE"}
LIST = "tools/list"
Answer = tuple[int, bytes]


class Worker:
    """The package's endpoint, and the project's own API."""

    def __init__(self, tools: int) -> None:
        from django.conf import settings
        from django.db.backends.signals import connection_created

        from benchmarks.peers.doors import find_door

        connection_created.connect(self.watch)
        self.sql = itertools.count()
        self.door = find_door(settings.PEER)()
        self.client = Client.of("alice", "Bearer", self.door.revision)
        self.plain = {LIST: self.client.plain("GET", "/nothing/")}
        self.arguments: dict[str, Mapping[str, Any]] = {}
        if not tools:
            self.add_operations()

    def watch(self, connection: Any, **kwargs: Any) -> None:
        def count(execute: Any, *arguments: Any) -> Any:
            next(self.sql)
            return execute(*arguments)

        connection.execute_wrappers.append(count)

    def add_operations(self) -> None:
        from example_project.shop.models import Customer, Ticket

        self.customer = Customer.objects.filter(owner__username="alice").earliest("pk")
        self.ticket = Ticket.objects.exclude(opened_by__username="alice").earliest("pk")
        one, page, ticket = {"id": self.customer.pk}, {"page_size": 20}, {"id": self.ticket.pk}
        refused, customers = {**CUSTOMER, "email": "nobody"}, "/api/customers/"
        plain = self.client.plain
        self.plain |= {
            "read": plain("GET", f"{customers}{self.customer.pk}/"),
            "page": plain("GET", customers, query=page),
            "create": plain("POST", customers, body=CUSTOMER),
            "refused": plain("POST", customers, body=refused),
            "denied": plain("DELETE", f"/api/tickets/{self.ticket.pk}/"),
        }
        self.arguments = {"read": one, "page": page, "create": CUSTOMER}
        self.arguments |= {"refused": refused, "denied": ticket}

    def make_message(self, name: str, arguments: Mapping[str, Any] | None = None) -> Request:
        """Return the message of an operation, with these arguments or with its own."""
        if name == LIST:
            return self.client.listing()
        written = self.door.write_arguments(name, arguments or self.arguments[name])
        return self.client.call(self.door.tools[name], written)

    def find_ways(self, name: str) -> dict[str, Callable[[], Answer]]:
        """Return the functions that send the plain request, and the message."""
        plain, message = self.plain[name], self.make_message(name)
        return {
            "plain": lambda: self.door.answer(plain.environment()),
            "measured": partial(self.door.serve, message),
        }

    def undo(self) -> None:
        """Delete the rows of a create."""
        if self.arguments:
            type(self.customer).objects.filter(email=EMAIL).delete()

    # The measurements.

    def count(self, name: str) -> dict[str, int]:
        """Return the SQL statements of both requests, whose caches are filled."""
        found = {}
        for way, send in self.find_ways(name).items():
            for _ in range(WARMING):
                send()
                self.undo()
            before = next(self.sql)
            send()
            found[way] = next(self.sql) - before - 1
            self.undo()
        return found

    def time(self, name: str, turn: int) -> dict[str, list[float]]:
        """Return the processor seconds of both requests, in all threads."""
        ways = list(self.find_ways(name).items())
        found: dict[str, list[float]] = {}
        for way, send in ways if turn % 2 else reversed(ways):
            send()
            self.undo()
            gc.collect()
            gc.disable()
            found[way] = [self.time_one(send) for _ in range(IN_A_ROW)]
            gc.enable()
        return found

    def time_one(self, send: Callable[[], Answer]) -> float:
        started = time.process_time()
        send()
        seconds = time.process_time() - started
        self.undo()
        return seconds

    def check(self) -> dict[str, Any]:
        """Do each operation once, and return its answers and its effects."""
        from benchmarks.peers.checking import Checker

        return Checker(self).check()

    def first(self) -> None:
        """Answer the first request of a process: the list of tools, or the API's."""
        status, _ = self.find_ways(LIST)["measured" if self.door.version else "plain"]()
        assert status == 200, status


def prepare() -> None:
    """Create the database and fill it; write the OpenAPI document for FastMCP."""
    from django.conf import settings

    from benchmarks.__main__ import seed

    seed()
    if settings.PEER == "fastmcp":
        from drf_spectacular.generators import SchemaGenerator

        from benchmarks.agents.other_package.document import drop_empty_lists

        document = SchemaGenerator().get_schema(request=None, public=True)
        document["paths"].pop("/nothing/")
        text = json.dumps(drop_empty_lists(json.loads(json.dumps(document, default=str))))
        with open(os.environ["DOCUMENT"], "w", encoding="utf-8") as file:
            file.write(text)


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.peers.settings"
    # Output that packages print is no answer.
    output, sys.stdout = sys.stdout, sys.stderr
    django.setup()
    if "--prepare" in sys.argv:
        prepare()
        return
    worker = Worker(int(os.environ["TOOLS"]))
    if "--first" in sys.argv:
        worker.first()
        return
    for line in sys.stdin:
        asked = json.loads(line)
        answer = getattr(worker, asked.pop("do"))(**asked)
        output.write(json.dumps(answer) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
