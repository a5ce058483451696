"""Mixed calls from many clients at both sites, with a check of every answer."""

from __future__ import annotations

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.services.client import Client, ReportedFailure, WrongAnswer
from tests.services.machines import Machines

LINES = [{"product": "cast-iron-pan", "quantity": 1}]
UNAVAILABLE = "ARCHIVE_UNAVAILABLE"
RUNS = itertools.count()


@dataclass
class Tally:
    """Counts right answers, right errors by their code, and keeps the wrong answers."""

    right: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def expect(seen: Any, wanted: Any, subject: str) -> None:
    if seen != wanted:
        raise WrongAnswer(f"{subject}: {seen!r} and not {wanted!r}")


@dataclass
class Known:
    """The correct answers, from the database before any fault."""

    customers: dict[int, str]
    tickets: int
    tools: list[str]

    @classmethod
    def of(cls, machines: Machines, client: Client) -> Known:
        rows = machines.postgresql.execute("SELECT id, name FROM shop_customer")
        ((tickets,),) = machines.postgresql.execute("SELECT count(*) FROM shop_ticket")
        return cls(dict(rows), tickets, [t["name"] for t in client.request("tools/list")["tools"]])


@dataclass
class Person:
    """One client of each site, which makes one call after the other.

    Attributes:
        home: the client of the site for most calls.
        away: the client of the other site, for calls that need both.
        placed: the numbers of the placed orders by their keys.
        open: keys of orders whose call had no answer.
    """

    number: int
    home: Client
    away: Client
    known: Known
    run: int = field(default_factory=lambda: next(RUNS))
    placed: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.number)
        self.keys = (f"run-{self.run}-{n}" for n in itertools.count())
        self.works: tuple[Callable[[], None], ...] = (
            *([self.read_row] * 8),
            *(self.read_rows, self.read_tickets, self.read_list, self.read_long),
            *(self.place, self.send_invalid_order, self.quote),
        )

    def work(self) -> None:
        """Make one call, or two that belong together."""
        self.chance.choice(self.works)()

    def read_row(self) -> None:
        pk = self.chance.choice(sorted(self.known.customers))
        row = self.home.call("customers_retrieve", pk=pk)
        expect((row["id"], row["name"]), (pk, self.known.customers[pk]), "customer")

    def read_rows(self) -> None:
        envelope = self.home.envelope("customers_list", page_size=10)
        expect(envelope["success"], True, "customers")
        count = envelope["meta"]["pagination"]["total_count"]
        expect(count, len(self.known.customers), "customers")
        for row in envelope["data"]["results"]:
            expect(row["name"], self.known.customers[row["id"]], "customer")

    def read_tickets(self) -> None:
        # The throttle of its view does not count reads.
        rows = self.home.call("tickets_list", page_size=100)["results"]
        expect(len(rows), self.known.tickets, "tickets")

    def read_list(self) -> None:
        found = self.home.request("tools/list")["tools"]
        expect([tool["name"] for tool in found], self.known.tools, "tools")

    def read_long(self) -> None:
        envelope = self.home.envelope("orders_list", page_size=100)
        expect(envelope["success"], True, "orders")
        rows, meta = envelope["data"]["results"], envelope["meta"]
        said = " ".join(meta["warnings"]) + str(meta["warning_details"])
        if UNAVAILABLE in said:
            expect(
                "content_retrieve" in said or bool(meta.get("content_archive_hashes")), False, said
            )
            return
        (archive_id,) = meta["content_archive_hashes"]
        rest = self.away.call("content_retrieve", archive_id=archive_id)["items"]
        ids = {row["id"] for row in rows} | {item["value"]["id"] for item in rest}
        expect((len(rows) + len(rest), len(ids)), (100, 100), "orders")

    def quote(self) -> None:
        asked = {"product": "cast-iron-pan", "quantity": 3}
        expect(self.home.call("quote", **asked)["total"], "119.70", "quote")

    def send_invalid_order(self) -> None:
        envelope = self.home.envelope("orders_create", customer=1, lines=[])
        expect(envelope["data"].get("error_code"), "VALIDATION_ERROR", "order without lines")

    def place(self) -> None:
        # First place the orders again, at the other site, whose calls had no answer.
        key, client = next(self.keys), self.home
        if self.open:
            key, client = self.open.pop(), self.away
        try:
            number = client.call("orders_create", customer=1, lines=LINES, idempotency_key=key)
        except ReportedFailure:
            self.open.append(key)
            raise
        self.placed[key] = number["number"]


class Traffic:
    """Clients that call at the same time until the block ends.

    Args:
        count: the number of clients; half of them start at each site.
        tally: collects the results of their calls.
    """

    def __init__(self, machines: Machines, count: int, tally: Tally) -> None:
        self.machines = machines
        self.tally = tally
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.people = list(self.make_people(count))
        self.threads = [threading.Thread(target=self.serve, args=[each]) for each in self.people]

    def make_people(self, count: int) -> Iterator[Person]:
        token = self.machines.tokens["admin"]
        urls = [site.url for site in self.machines.sites.values()]
        first = Client(urls[0], token)
        known = Known.of(self.machines, first)
        first.close()
        for number in range(count):
            home, away = urls if number % 2 else reversed(urls)
            yield Person(number, Client(home, token), Client(away, token), known)

    def __enter__(self) -> Traffic:
        ((self.before,),) = self.machines.postgresql.execute("SELECT count(*) FROM shop_order")
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        if exc_info == (None, None, None):
            self.retry_unanswered()
        for person in self.people:
            person.home.close()
            person.away.close()

    def serve(self, person: Person) -> None:
        while not self.stopped.is_set():
            self.make_call(person.work)

    def make_call(self, work: Callable[[], None]) -> None:
        tally = self.tally
        try:
            work()
        except ReportedFailure as exc:
            with self.lock:
                tally.errors[exc.code] += 1
        except Exception as exc:  # noqa: BLE001 - whatever an answer breaks is wrong with it
            with self.lock:
                tally.wrong.append(repr(exc)[:500])
        else:
            with self.lock:
                tally.right += 1

    def retry_unanswered(self) -> None:
        """Repeat calls without an answer; then each key has placed exactly one order."""
        for person in self.people:
            while person.open:
                person.place()
        numbers = [number for person in self.people for number in person.placed.values()]
        count = "SELECT count(*), count(*) FILTER (WHERE number = ANY(%s)) FROM shop_order"
        ((every, placed),) = self.machines.postgresql.execute(count, numbers)
        assert (every - self.before, placed) == (len(numbers), len(set(numbers)))
        assert len(set(numbers)) == len(numbers)
