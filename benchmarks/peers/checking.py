"""What a package's answers contain, and which rows its calls changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.worker import Worker

OK = 200
UNAUTHORIZED = 401


class NothingDone(Exception):
    """An operation did not do its work, so its figures are meaningless."""


class Checker:
    """Does each operation once through the endpoint, and compares it with the rows."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.door = worker.door

    def check(self) -> dict[str, Any]:
        found = {
            "version": self.door.version,
            "by_hand": self.door.by_hand,
            "lacks": dict(self.door.lacks),
            "keeps_api": self.door.keeps_api(),
            **self.check_list(),
        }
        if not self.worker.arguments:
            return found
        self.check_read()
        self.check_create()
        return found | self.check_page() | self.check_refusals()

    def check_list(self) -> dict[str, Any]:
        """Check the list, and whether an anonymous caller gets it."""
        message = self.worker.make_message("tools/list")
        tools = read_result(*self.door.serve(message))["tools"]
        stranger, _ = self.door.serve(replace(self.worker.client, token="").listing())
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
        row = self.find_rows("read")
        if [(each["id"], each["name"]) for each in row] != [(customer.pk, customer.name)]:
            raise NothingDone(f"read: {row}")

    def check_create(self) -> None:
        from benchmarks.peers.worker import EMAIL
        from example_project.shop.models import Customer

        self.call("create")
        owners = Customer.objects.filter(email=EMAIL).values_list("owner__username", flat=True)
        # A tool for which `lacks` gives a reason must have no effect.
        if list(owners) != ([] if "create" in self.door.lacks else ["alice"]):
            raise NothingDone(f"create: rows of {list(owners)}")
        self.worker.undo()

    def check_page(self) -> dict[str, Any]:
        """Check the number of rows on a page, their owner, and whether a filter works."""
        from example_project.shop.models import Customer

        rows = self.find_rows("page")
        own = Customer.objects.filter(owner__username="alice")
        if not set(own.values_list("pk", flat=True)).issuperset(row["id"] for row in rows):
            raise NothingDone("page: rows of others")
        return {
            "page": len(rows),
            "page_text": self.find_text("page"),
            "filtered": len(self.find_rows("page", {"tier": ["gold"]}, strict=False)),
            "matching": own.filter(tier="gold").count(),
            "unknown": self.is_error("page", {"no_such_filter": "x"}),
        }

    def check_refusals(self) -> dict[str, Any]:
        """Check a refused create and a call without permission: their answers and effects."""
        from example_project.shop.models import Customer, Ticket

        before = Customer.objects.count()
        found = {
            "refused_is_error": self.is_error("refused"),
            "refused_text": self.find_text("refused"),
            "denied_is_error": self.is_error("denied"),
            "denied_text": self.find_text("denied"),
            "denied_holds": Ticket.objects.filter(pk=self.worker.ticket.pk).exists(),
        }
        if Customer.objects.count() != before:
            raise NothingDone("a refused create made a row")
        return found

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        return self.door.serve(self.worker.make_message(name, arguments))

    def is_error(self, name: str, arguments: Mapping[str, Any] | None = None) -> bool:
        body = json.loads(self.call(name, arguments)[1])
        return "error" in body or bool(body["result"].get("isError"))

    def find_text(self, name: str) -> str:
        """Return the text that the model reads."""
        body = json.loads(self.call(name)[1])
        if "error" in body:
            return str(body["error"]["message"])
        return "\n".join(block["text"] for block in body["result"]["content"])

    def find_rows(
        self, name: str, arguments: Mapping[str, Any] | None = None, strict: bool = True
    ) -> list[dict[str, Any]]:
        """Return the rows at any depth of an answer; of an error none, unless strict."""
        result = read_result(*self.call(name, arguments))
        if result.get("isError") and not strict:
            return []
        if result.get("isError"):
            raise NothingDone(result["content"])
        return [row for block in result["content"] for row in walk_rows(json.loads(block["text"]))]


def walk_rows(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the customers in an answer."""
    if isinstance(value, dict) and {"id", "email"} <= value.keys():
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from walk_rows(each)


def read_result(status: int, content: bytes) -> dict[str, Any]:
    body = json.loads(content) if status == OK else {}
    if "result" not in body:
        raise NothingDone(f"{status}: {content[:500]!r}")
    result: dict[str, Any] = body["result"]
    return result
