"""What a package's answers contain, and which rows its calls changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.worker import Answer, Operation, Worker

OK = 200
UNAUTHORIZED = 401


class NothingDone(Exception):
    """An operation did not do its work, so its figures are meaningless."""


class Checker:
    """Does each operation once through the endpoint and once through the API, and compares both."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def check(self) -> dict[str, Any]:
        door = self.worker.door
        found = {"version": door.version, "lacks": door.lacks, "keeps_api": door.keeps_api()}
        found |= self.check_list()
        if "read" not in self.worker.operations:
            return found
        self.check_read()
        self.check_create()
        return found | self.check_page() | self.check_refusals()

    def check_list(self) -> dict[str, Any]:
        """Check the list, and whether an anonymous caller gets it."""
        send = self.worker.make_measured(self.worker.operations["tools/list"])
        status, content = send()
        tools = read_result(status, content)["tools"]
        stranger, _ = self.worker.door.answer(self.worker.door.write(None, "tools/list"))
        shown = [
            {key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in tools
        ]
        return {
            "tools": len(tools),
            "list": json.dumps(shown, ensure_ascii=False, separators=(",", ":")),
            "strangers": stranger == UNAUTHORIZED,
        }

    def check_read(self) -> None:
        customer = self.worker.customer
        row = self.find_rows(self.worker.operations["read"])
        if [(each["id"], each["name"]) for each in row] != [(customer.pk, customer.name)]:
            raise NothingDone(f"read: {row}")

    def check_create(self) -> None:
        from benchmarks.peers.worker import EMAIL
        from example_project.shop.models import Customer

        self.worker.make_measured(self.worker.operations["create"])()
        owners = Customer.objects.filter(email=EMAIL).values_list("owner__username", flat=True)
        # A tool for which `lacks` gives a reason must have no effect.
        if list(owners) != ([] if "create" in self.worker.door.lacks else ["alice"]):
            raise NothingDone(f"create: rows of {list(owners)}")
        self.worker.undo()

    def check_page(self) -> dict[str, Any]:
        """Check the number of rows on a page, their owner, and whether a filter works."""
        from benchmarks.peers.worker import FILTER, Operation
        from example_project.shop.models import Customer

        operation = self.worker.operations["page"]
        rows = self.find_rows(operation)
        own = Customer.objects.filter(owner__username="alice")
        if not set(own.values_list("pk", flat=True)).issuperset(row["id"] for row in rows):
            raise NothingDone("page: rows of others")
        filtered = Operation(operation.plain, "page", FILTER)
        return {
            "page": len(rows),
            "page_text": self.find_text(operation),
            "filtered": len(self.find_rows(filtered, strict=False)),
            "matching": own.filter(tier="gold").count(),
            "unknown": self.is_error(Operation(operation.plain, "page", {"no_such_filter": "x"})),
        }

    def check_refusals(self) -> dict[str, Any]:
        """Check a refused create and a call without permission: their answers and effects."""
        from example_project.shop.models import Customer, Ticket

        before = Customer.objects.count()
        refused = self.worker.operations["refused"]
        denied = self.worker.operations["denied"]
        found = {
            "refused_is_error": self.is_error(refused),
            "refused_text": self.find_text(refused),
            "denied_is_error": self.is_error(denied),
            "denied_text": self.find_text(denied),
            "denied_holds": Ticket.objects.filter(pk=self.worker.ticket.pk).exists(),
        }
        if Customer.objects.count() != before:
            raise NothingDone("a refused create made a row")
        return found

    def call(self, operation: Operation) -> Answer:
        return self.worker.make_measured(operation)()

    def is_error(self, operation: Operation) -> bool:
        _, content = self.call(operation)
        body = read_body(content)
        return "error" in body or bool(body["result"].get("isError"))

    def find_text(self, operation: Operation) -> str:
        """Return the text that the model reads."""
        _, content = self.call(operation)
        body = read_body(content)
        if "error" in body:
            return str(body["error"]["message"])
        return "\n".join(block["text"] for block in body["result"]["content"])

    def find_rows(self, operation: Operation, strict: bool = True) -> list[dict[str, Any]]:
        """Return the rows at any depth of an answer; of an error none, unless strict."""
        status, content = self.call(operation)
        result = read_result(status, content)
        if result.get("isError") and not strict:
            return []
        if result.get("isError"):
            raise NothingDone(result["content"])
        return [row for block in result["content"] for row in walk_rows(json.loads(block["text"]))]


def walk_rows(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the customers in an answer."""
    if isinstance(value, dict) and {"id", "email"} <= value.keys():
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from walk_rows(each)
    elif isinstance(value, list):
        for each in value:
            yield from walk_rows(each)


def read_body(content: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(content)
    return body


def read_result(status: int, content: bytes) -> dict[str, Any]:
    body = read_body(content) if status == OK else {}
    if "result" not in body:
        raise NothingDone(f"{status}: {content[:500]!r}")
    result: dict[str, Any] = body["result"]
    return result
