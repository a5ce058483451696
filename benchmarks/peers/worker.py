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
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import django

WARMING = 5
IN_A_ROW = 3
EMAIL = "benchmark@example.com"
CUSTOMER = {"name": "Benchmark", "email": EMAIL, "country": "SE"}
FILTER = {"tier": ["gold"]}
Answer = tuple[int, bytes]


@dataclass(frozen=True)
class Operation:
    """A tool call, and the plain request that does the same.

    Attributes:
        plain: method, path and body.
        does: the operation's name in `Door.tools`; "" for the list of tools.
        arguments: the arguments of the tool.
    """

    plain: tuple[str, str, Any]
    does: str = ""
    arguments: Mapping[str, Any] | None = None


class Worker:
    """The package's endpoint, and the project's own API."""

    def __init__(self, tools: int) -> None:
        from django.conf import settings
        from django.db.backends.signals import connection_created
        from rest_framework.authtoken.models import Token

        from benchmarks.peers.doors import find_door
        from benchmarks.peers.doors.base import make_environment

        connection_created.connect(self.watch)
        self.sql = itertools.count()
        self.make_environment = make_environment
        self.token = Token.objects.get(user__username="alice").key
        self.door = find_door(settings.PEER)()
        self.operations = dict(self.make_operations(tools))

    def watch(self, connection: Any, **kwargs: Any) -> None:
        def count(execute: Any, *arguments: Any) -> Any:
            next(self.sql)
            return execute(*arguments)

        connection.execute_wrappers.append(count)

    def make_operations(self, tools: int) -> Iterator[tuple[str, Operation]]:
        yield "tools/list", Operation(("GET", "/nothing/", None))
        self.customer = self.ticket = None
        if tools:
            return
        from example_project.shop.models import Customer, Ticket

        self.customer = Customer.objects.filter(owner__username="alice").earliest("pk")
        self.ticket = Ticket.objects.exclude(opened_by__username="alice").earliest("pk")
        one, customers = {"id": self.customer.pk}, "/api/customers/"
        refused = {**CUSTOMER, "email": "nobody"}
        yield "read", Operation(("GET", f"{customers}{one['id']}/", None), "retrieve", one)
        size = {"page_size": 20}
        yield "page", Operation(("GET", f"{customers}?page_size=20", None), "page", size)
        yield "create", Operation(("POST", customers, CUSTOMER), "create", CUSTOMER)
        yield "refused", Operation(("POST", customers, refused), "create", refused)
        ticket = {"id": self.ticket.pk}
        yield (
            "denied",
            Operation(("DELETE", f"/api/tickets/{ticket['id']}/", None), "destroy", ticket),
        )

    # Each returns a function that sends its request once.

    def make_plain(self, operation: Operation) -> Callable[[], Answer]:
        environment = self.make_environment(self.token, *operation.plain)
        return lambda: self.door.answer_plain(environment)

    def make_measured(self, operation: Operation) -> Callable[[], Answer]:
        if not operation.does:
            environment = self.door.write(self.token, "tools/list")
        else:
            assert operation.arguments is not None
            arguments = self.door.write_arguments(operation.does, operation.arguments)
            environment = self.make_call(self.door.tools[operation.does], arguments)
        return lambda: self.door.answer(environment)

    def make_call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        return self.door.write(self.token, "tools/call", params)

    def undo(self) -> None:
        """Delete the rows of a create."""
        if self.customer is not None:
            type(self.customer).objects.filter(email=EMAIL).delete()

    def ways(self, name: str) -> dict[str, Callable[[], Callable[[], Answer]]]:
        operation = self.operations[name]
        return {
            "plain": lambda: self.make_plain(operation),
            "measured": lambda: self.make_measured(operation),
        }

    # The measurements.

    def count(self, name: str) -> dict[str, dict[str, int]]:
        """Return function calls and statements of an operation whose caches are filled."""
        found = {}
        for way, make in self.ways(name).items():
            for _ in range(WARMING):
                make()()
                self.undo()
            found[way] = {"calls": count_calls(make()), "bytes": 0}
            self.undo()
            send, before = make(), next(self.sql)
            _, content = send()
            found[way] |= {"sql": next(self.sql) - before - 1, "bytes": len(content)}
            self.undo()
        return found

    def time(self, name: str, turn: int) -> dict[str, list[float]]:
        """Return the processor seconds of an operation, for both requests."""
        ways = list(self.ways(name).items())
        found: dict[str, list[float]] = {}
        for way, make in ways if turn % 2 else reversed(ways):
            make()()
            self.undo()
            with without_garbage_collection():
                found[way] = [self.time_one(make()) for _ in range(IN_A_ROW)]
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
        operation = self.operations["tools/list"]
        make = self.make_measured if self.door.version else self.make_plain
        status, _ = make(operation)()
        assert status == 200, status


def count_calls(send: Callable[[], Any]) -> int:
    """Return the number of function calls, those of C included, in all threads."""
    counter = itertools.count()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            next(counter)

    with without_garbage_collection():
        threading.setprofile_all_threads(count)
        try:
            send()
        finally:
            threading.setprofile_all_threads(None)
    return next(counter)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect garbage before the block and none within it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def prepare() -> None:
    """Create the database and fill it; write the OpenAPI document for FastMCP."""
    from django.conf import settings
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("seed", verbosity=0)
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
    worker = Worker(int(os.environ.get("TOOLS", "0")))
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
