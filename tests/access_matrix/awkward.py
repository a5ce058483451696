"""Compares requests to the awkward views, for every credential and door, with HTTP."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Concat
from django.test import override_settings

from drf_mcp.exposure import registry
from example_project.shop.models import Customer, Order, OrderLine, Ticket
from tests.access_matrix import awkward_views
from tests.access_matrix.awkward_credentials import Credential, make_credentials
from tests.access_matrix.doors import DOORS, SHUT, Answer, Door, Request, by_post, read_http
from tests.agents import Agent
from tests.parity.answers import over_http
from tests.parity.conftest import NOW

EQUAL, REFUSED, DIFFERENT = "=", "-", "!"
# Each note and order contains a mark, which names its row.
MARK = re.compile(r"(?:note|order)<\d+>")
TENANT = "tests.access_matrix.awkward_views.TenantMiddleware"
NOTE = {"subject": "Leaking", "body": "It drips.", "priority": 2}
# Tools whose permissions refuse before they look at an object or the handler runs.
GUARDED = ("notes_close", "notes_urgent", "residents_list", "resident_retrieve")
PREVIEWED = ("notes_destroy", "notes_update", "clients_destroy", "clients_partial_update")


@contextmanager
def served() -> Iterator[None]:
    """Serve the awkward views and their prompts, with middleware that sets the tenant."""
    chosen = {
        "SERVER_NAME": "shop",
        "INCLUDE": ["*", "PUT *"],
        "CALL_MIDDLEWARE": [TENANT],
        "AUTHENTICATION_CLASSES": awkward_views.AUTHENTICATION,
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "ARCHIVE_CLASS": None,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_added", list(awkward_views.PROMPTS))
        patch.setattr("django.utils.timezone.now", lambda: NOW)
        patch.setattr(Ticket._meta.get_field("created"), "_get_default", lambda: NOW)
        with override_settings(
            ROOT_URLCONF="tests.access_matrix.awkward_views",
            MIDDLEWARE=[*settings.MIDDLEWARE, TENANT],
            DRF_MCP=chosen,
        ):
            registry.reload()
            yield
    registry.reload()


def mark_rows() -> None:
    """Put a mark into each note and order that no other row has."""
    own = functools.partial(Concat, output_field=CharField())
    key = Cast(F("pk"), CharField())
    Ticket.objects.update(subject=own(Value("note<"), key, Value(">")))
    Ticket.objects.update(body=own(Value("body of note<"), key, Value(">")))
    Order.objects.update(note=own(Value("order<"), key, Value(">")))


def leave_few_rows() -> None:
    """Delete most rows; each user keeps some of every kind."""
    for user in User.objects.all():
        orders = Order.objects.filter(customer__owner=user).order_by("pk")
        Order.objects.filter(pk__in=list(orders.values_list("pk", flat=True)[2:])).delete()
        tickets = Ticket.objects.filter(opened_by=user).order_by("pk")
        Ticket.objects.filter(pk__in=list(tickets.values_list("pk", flat=True)[2:])).delete()
        rows = Customer.objects.filter(owner=user, orders=None, tickets=None).order_by("pk")
        Customer.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[3:])).delete()
    Customer.objects.update(country="DE")
    Customer.objects.filter(owner__username="bob").update(country="FR")
    OrderLine.objects.all().delete()


def add_hidden_notes() -> None:
    """Have bob write notes about a customer of alice, who cannot see them."""
    alice, bob = User.objects.get(username="alice"), User.objects.get(username="bob")
    customer = Customer.objects.filter(owner=alice, orders=None).earliest("pk")
    for writer in (alice, bob, bob, bob):
        Ticket.objects.create(customer=customer, opened_by=writer, subject="x", body="x")


def get_rows() -> Any:
    rows = []
    with connection.cursor() as cursor:
        for model in (Customer, Ticket, Order):
            cursor.execute(f"SELECT * FROM {model._meta.db_table} ORDER BY id")
            rows.append(cursor.fetchall())
    return rows


def rolled_back(send: Callable[[], Any]) -> tuple[Any, Any]:
    """Send a request and roll back its writes; return its answer and the rows after it."""
    cache.clear()
    with transaction.atomic():
        answer = send()
        rows = get_rows()
        transaction.set_rollback(True)
    return answer, rows


def key_of(tool: str) -> str:
    """Return the argument name of the tool's key."""
    names = registry.tool(tool).arguments.schema["properties"]
    return "id" if "id" in names else "pk"


def make_requests() -> list[Request]:
    """Return requests for rows of alice and of bob, and for three tenants."""
    requests = [
        Request("notes_list", {}, "GET", "/notes/"),
        Request("notes_urgent", {}, "GET", "/notes/urgent/"),
        Request("notes_create", NOTE, "POST", "/notes/", NOTE),
        Request("notes_create", {"subject": ""}, "POST", "/notes/", {"subject": ""}),
        Request("papers_list", {}, "GET", "/papers/"),
        Request("papers_list", {"page": 2, "search": "S-"}, "GET", "/papers/?page=2&search=S-"),
        Request("opening_hours", {}, "GET", "/hours/"),
        Request("ledger_get", {}, "GET", "/ledger/"),
    ]
    for owner in ("alice", "bob"):
        note = Ticket.objects.filter(opened_by__username=owner).earliest("pk").pk
        path = f"/notes/{note}/"
        requests += [
            Request("notes_retrieve", {key_of("notes_retrieve"): note}, "GET", path),
            Request("notes_update", {key_of("notes_retrieve"): note, **NOTE}, "PUT", path, NOTE),
            Request("notes_destroy", {key_of("notes_retrieve"): note}, "DELETE", path),
            Request("notes_close", {key_of("notes_retrieve"): note}, "POST", f"{path}close/", {}),
        ]
        client = Customer.objects.filter(owner__username=owner, orders=None).earliest("pk").pk
        change, path = {"tier": "gold", "name": "Renamed"}, f"/clients/{client}/"
        requests += [
            Request("clients_retrieve", {key_of("clients_retrieve"): client}, "GET", path),
            Request(
                "clients_partial_update",
                {key_of("clients_retrieve"): client, **change},
                "PATCH",
                path,
                change,
            ),
            Request("clients_destroy", {key_of("clients_retrieve"): client}, "DELETE", path),
            Request("ledger_post", {"customer": client}, "POST", "/ledger/", {"customer": client}),
        ]
        for name in awkward_views.NARROWING:
            path = f"/narrowed/{name}/"
            requests += [
                Request(f"narrowed_{name}_list", {}, "GET", path),
                Request(f"narrowed_{name}_retrieve", {"id": note}, "GET", f"{path}{note}/"),
            ]
        number = Order.objects.filter(customer__owner__username=owner).earliest("pk").number
        requests += [
            Request("papers_retrieve", {"number": number}, "GET", f"/papers/{number}/"),
            Request("owner_of_order", {"number": number}, "GET", f"/owners/{number}/"),
        ]
    for tenant in ("DE", "FR", "XX"):
        path = f"/tenants/{tenant}/residents/"
        resident = Customer.objects.filter(country="DE").earliest("pk").pk
        named, name = {"tenant": tenant, key_of("resident_retrieve"): resident}, {"name": "Renamed"}
        requests += [
            Request("residents_list", {"tenant": tenant}, "GET", path),
            Request("resident_retrieve", named, "GET", f"{path}{resident}/"),
            Request("resident_partial_update", named | name, "PATCH", f"{path}{resident}/", name),
        ]
    return requests


class AwkwardMatrix:
    """Sends every request with every credential through every door.

    ``in_pairs`` leaves out combinations that cannot fail alone. The endpoint refuses an unknown
    caller before it looks at the tool, so one read and one write of each view are enough. A view
    depends on the user and not on the door: a second credential of a user is tried with every door
    and every view, but not with every view through every door.
    """

    def __init__(self, in_pairs: bool = False) -> None:
        self.in_pairs = in_pairs
        leave_few_rows()
        add_hidden_notes()
        mark_rows()
        self.credentials = make_credentials()
        # Sessions are stored before, because writes of requests are rolled back.
        for credential in self.credentials:
            credential.http.get("/hours/")
        self.requests = make_requests()
        self.previewed = next(
            request.path.split("/")[2]
            for request in self.requests
            if request.tool == "clients_destroy"
        )
        self.by_http: dict[Any, tuple[list[tuple[Any, Any]], set[str]]] = {}
        self.table: dict[tuple[str, str], Counter[str]] = {}
        self.faults: list[str] = []

    def fill(self) -> AwkwardMatrix:
        for credential in self.credentials:
            self.ask(credential)
        return self

    def ask(self, credential: Credential) -> None:
        """Compare all answers to one credential with the HTTP responses to its user."""
        over_http, shown = self.ask_http(credential)
        for place in self.get_request_numbers(credential):
            request, (response, written) = self.requests[place], over_http[place]
            is_open = credential.opens(request.tool, request.reads)
            expected = read_http(response) if is_open else None
            written = written if is_open else self.untouched
            for door in self.choose_doors(credential, place):
                answer, rows = rolled_back(functools.partial(door.call, credential, request))
                fault = find_fault(door, expected, answer, credential.is_unknown)
                fault = fault or ("other rows afterwards" if rows != written else None)
                fault = fault or find_hidden(answer.text, shown)
                self.note(door.name, credential, request, fault, is_open)
            if response.status_code == 403 and request.tool in GUARDED:
                fault = self.find_leaked_argument(credential, request) if is_open else None
                self.note("arguments", credential, request, fault, is_open)
        for what, text in self.make_further_requests(credential):
            fault = find_hidden(text, shown) or self.find_miscount(credential, text)
            self.note("further", credential, what, fault, not credential.is_unknown)

    def ask_http(self, credential: Credential) -> tuple[list[tuple[Any, Any]], set[str]]:
        """Return the HTTP responses to the user, the rows after each, and the marks in them."""
        if credential.user not in self.by_http:
            http = credential.http
            answers = [
                rolled_back(functools.partial(over_http, http, each.method, each.path, each.body))
                for each in self.requests
            ]
            pages = [http.get(path) for path in self.paths]
            pages += [response for response, _ in answers]
            shown = {mark for page in pages for mark in MARK.findall(page.content.decode())}
            self.by_http[credential.user] = answers, shown
        return self.by_http[credential.user]

    def get_request_numbers(self, credential: Credential) -> list[int]:
        """Return the numbers of the requests to send."""
        few = self.in_pairs and credential.is_unknown
        places = {
            (request.path.split("/")[1], request.reads) if few else place: place
            for place, request in enumerate(self.requests)
        }
        return list(places.values())

    def is_brief(self, credential: Credential) -> bool:
        return self.in_pairs and not credential.is_first

    def choose_doors(self, credential: Credential, place: int) -> list[Door]:
        """Return the doors to try: all of them, or HTTP and one other in turn."""
        first, *others = [door for door in DOORS if door.admits(credential, self.requests[place])]
        others = [others[place % len(others)]] if self.is_brief(credential) else others
        return [first, *others]

    def find_leaked_argument(self, credential: Credential, request: Request) -> str | None:
        """Return the answer if it names an unknown argument to a caller without permission."""
        wrong = dataclasses.replace(request, arguments={**request.arguments, "subjekt": "x"})
        answer, _ = rolled_back(functools.partial(by_post, credential, wrong))
        if answer.status == 403 and "subjekt" not in answer.text:
            return None
        return f"{answer.status}: {answer.text[:200]}"

    def make_further_requests(self, credential: Credential) -> Iterator[tuple[str, str]]:
        """Yield answers without an HTTP request: previews, prompts, completion, figures."""
        agent = Agent(credential.client)
        for request in self.requests:
            if request.tool in PREVIEWED:
                tried = {**request.arguments, "dry_run": True}
                yield f"a dry run of {request}", self.send(agent, request.tool, tried)
        kept = slice(None, None, 4 if self.is_brief(credential) else None)
        for note in self.notes[kept]:
            for name in ("about_note", "read_note"):
                params = {"name": name, "arguments": {"note": str(note.pk)}}
                yield f"{name} {note.pk}", self.send_method(agent, "prompts/get", params)
        for order in self.orders[kept]:
            params = {"name": "about_paper", "arguments": {"paper": order.number}}
            yield f"about_paper {order.number}", self.send_method(agent, "prompts/get", params)

        for prompt, argument in (("about_note", "note"), ("about_paper", "paper")):
            ref = {"type": "ref/prompt", "name": prompt}
            yield f"completion of {argument}s", self.complete(agent, ref, argument)
        for name in awkward_views.NARROWING:
            ref = {"type": "ref/resource", "uri": f"shop://narrowed/{name}/{{pk}}"}
            yield f"completion of {name}", self.complete(agent, ref, "pk")
        for name in awkward_views.FIGURES:
            asked = {"group_by": ["id", "subject"], "metrics": ["count", "max_id"], "limit": 1000}
            yield f"figures of {name}", self.send(agent, f"narrowed_{name}_aggregate", asked)

    def find_miscount(self, credential: Credential, text: str) -> str | None:
        """Return a sentence if a preview counts notes that the caller cannot see."""
        deleted = re.search(r'\\"deleted\\":{\\"ticket\\":(\d+)', text)
        if deleted is None or credential.user.is_staff:
            return None
        own = Ticket.objects.filter(opened_by=credential.user, customer=self.previewed).count()
        return (
            None
            if int(deleted[1]) <= own
            else f"counts {deleted[1]} notes, of which {own} are seen"
        )

    def complete(self, agent: Agent, ref: dict[str, str], argument: str) -> str:
        """Return the completed values as the marks of their rows."""
        params = {"ref": ref, "argument": {"name": argument, "value": ""}}
        answer = json.loads(self.send_method(agent, "completion/complete", params))
        values = answer.get("result", {}).get("completion", {}).get("values", [])
        if argument != "paper":
            return "".join(f"note<{value}>" for value in values)
        found = Order.objects.filter(number__in=values).values_list("pk", flat=True)
        return "".join(f"order<{pk}>" for pk in found)

    def send(self, agent: Agent, tool: str, arguments: dict[str, Any]) -> str:
        return self.send_method(agent, "tools/call", {"name": tool, "arguments": arguments})

    def send_method(self, agent: Agent, method: str, params: dict[str, Any]) -> str:
        response, rows = rolled_back(lambda: agent.post(*agent.frame(method, params)))
        assert rows == self.untouched, f"{method} {params} wrote something"
        return str(response.content.decode())

    @functools.cached_property
    def notes(self) -> list[Ticket]:
        return list(Ticket.objects.order_by("pk"))

    @functools.cached_property
    def orders(self) -> list[Order]:
        return list(Order.objects.order_by("pk"))

    @functools.cached_property
    def paths(self) -> list[str]:
        """The path of each note and order."""
        notes = [f"/notes/{note.pk}/" for note in self.notes]
        return notes + [f"/papers/{order.number}/" for order in self.orders]

    @functools.cached_property
    def untouched(self) -> Any:
        return get_rows()

    def note(
        self, door: str, credential: Credential, what: Any, fault: str | None, is_open: bool
    ) -> None:
        sign = DIFFERENT if fault else EQUAL if is_open else REFUSED
        self.table.setdefault((door, credential.name), Counter())[sign] += 1
        if fault:
            self.faults.append(f"{what} as {credential.name} by {door}: {fault}")


def write_lines(matrix: AwkwardMatrix) -> Iterator[str]:
    """Yield the table by doors, its legend, and every difference."""
    doors = list(dict.fromkeys(door for door, _ in matrix.table))
    yield " ".join([f"{'':10}", *(f"{door:>12}" for door in doors)])
    for credential in matrix.credentials:
        cells = [matrix.table.get((door, credential.name), Counter()) for door in doors]
        found = ["".join(f"{number}{sign}" for sign, number in cell.items()) for cell in cells]
        yield " ".join([f"{credential.name:10}", *(f"{cell:>12}" for cell in found)])
    counts = sum(matrix.table.values(), Counter())
    yield (
        f"{counts.total():,} answers about awkward views beside HTTP: {counts[EQUAL]:,} equal (=), "
        f"{counts[REFUSED]:,} refused by the endpoint (-), {counts[DIFFERENT]} different (!)"
    )
    yield from matrix.faults


def find_hidden(text: str, shown: set[str]) -> str | None:
    """Return the rows that a text names although HTTP never shows them to the caller."""
    hidden = set(MARK.findall(text)) - shown
    return f"names {sorted(hidden)}" if hidden else None


def find_fault(door: Door, expected: Answer | None, answer: Answer, is_unknown: bool) -> str | None:
    """Return what is wrong with an answer; ``expected`` is None if the endpoint has to refuse."""
    if expected is None:
        wanted = {SHUT} if is_unknown else {403, 404} if door.only_reads else {403}
        return (
            None
            if answer.status in wanted
            else f"{answer.status}, although the call must be refused"
        )
    wanted = {404} if door.only_reads and expected.status >= 400 else {expected.status}
    if answer.status not in wanted:
        return f"{answer.status} and not {expected.status}: {answer.text[:200]}"
    if answer.data != expected.data:
        return f"{answer.data} and not {expected.data}"[:400]
    return None
