"""The same request by HTTP and by tool call, for every tool and every credential."""

from __future__ import annotations

import functools
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.cache import cache

from drf_mcp.exposure import registry
from example_project.library.indexes import current_index
from example_project.shop.models import Order, Ticket
from tests.access_matrix.credentials import Credential, make_credentials
from tests.agents import Agent, Result
from tests.parity.answers import CODES, assert_same_answer, observed, over_http
from tests.parity.conftest import NOW
from tests.parity.shop_requests import REQUESTS, ShopRequest, rows_of_alice

EQUAL, NARROWED, DIFFERENT = "=", "-", "!"
STATUSES = {code: status for status, codes in CODES.items() for code in codes}


@dataclass
class Cell:
    """The results of one tool for one credential.

    Attributes:
        status: the HTTP status equivalent to the tool's first answer.
        verdicts: by request, whether the answer equals that of HTTP, refuses what HTTP allows, or
            differs.
        faults: the differences.
    """

    status: int
    verdicts: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        for verdict in (DIFFERENT, NARROWED):
            if verdict in self.verdicts:
                return f"{self.status}{verdict}"
        return f"{self.status}{EQUAL}"


class Matrix:
    """Calls every tool of the example project with every credential."""

    def __init__(self) -> None:
        self.credentials = make_credentials()
        rows = rows_of_alice()
        self.requests = [request.about(rows) for request in REQUESTS]
        self.cells: dict[tuple[str, str], Cell] = {}

    @property
    def tools(self) -> list[str]:
        return list(dict.fromkeys(request.tool for request in self.requests))

    def fill(self) -> Matrix:
        with fixed_clock_and_uuids():
            for credential in self.credentials:
                for request in self.requests:
                    self.compare(credential, request)
        return self

    def compare(self, credential: Credential, request: ShopRequest) -> None:
        cache.clear()
        http = credential.http()
        send = functools.partial(over_http, http, request.method, request.path, request.body)
        response, expected = observed(send)
        cache.clear()
        agent = Agent(credential.client())
        answer, effect = observed(lambda: self.call(agent, request))
        key = (request.tool, credential.name)
        cell = self.cells.setdefault(key, Cell(self.get_status(answer)))
        try:
            if isinstance(answer, Result):
                assert_same_answer(response, answer, many="ids" in request.arguments)
            else:
                assert response.status_code == answer
            assert effect.tables == expected.tables
        except AssertionError as exc:
            if credential.narrows and self.is_refusal(answer) and self.is_idle(effect):
                cell.verdicts.append(NARROWED)
                return
            cell.verdicts.append(DIFFERENT)
            cell.faults.append(f"{request} as {credential.name}: {str(exc)[:300]}")
        else:
            cell.verdicts.append(EQUAL)

    def call(self, agent: Agent, request: ShopRequest) -> Result | int:
        """Return the result of a tool, or the HTTP status if the endpoint refuses the message."""
        message, headers = agent.frame(
            "tools/call", {"name": request.tool, "arguments": request.arguments}
        )
        response = agent.post(message, headers)
        answer = agent.read("tools/call", response)
        return Result(answer["result"]) if "result" in answer else response.status_code

    def get_status(self, answer: Result | int) -> int:
        if isinstance(answer, int):
            return answer
        return STATUSES.get(answer.code, 400) if answer.is_error else 200

    def is_refusal(self, answer: Result | int) -> bool:
        return self.get_status(answer) in (401, 403)

    @functools.cached_property
    def untouched(self) -> Any:
        return observed(lambda: None)[1].tables

    def is_idle(self, effect: Any) -> bool:
        return bool(effect.tables == self.untouched)

    @property
    def counts(self) -> Counter[str]:
        return Counter(verdict for cell in self.cells.values() for verdict in cell.verdicts)

    @property
    def faults(self) -> list[str]:
        return [fault for cell in self.cells.values() for fault in cell.faults]

    def lines(self) -> Iterator[str]:
        """Yield the table, its legend, and every difference."""
        names = [credential.name for credential in self.credentials]
        width = max(map(len, self.tools))
        yield " ".join([f"{'':{width}}", *(f"{name:>9}" for name in names)])
        for tool in self.tools:
            cells = [str(self.cells[tool, name]) for name in names]
            yield " ".join([f"{tool:{width}}", *(f"{cell:>9}" for cell in cells)])
        counts = self.counts
        yield (
            f"{counts.total():,} requests by HTTP and by tool: {counts[EQUAL]:,} equal (=), "
            f"{counts[NARROWED]:,} refused by the endpoint alone (-), {counts[DIFFERENT]} "
            f"different (!)"
        )
        yield from self.faults


@contextmanager
def fixed_clock_and_uuids() -> Iterator[None]:
    """Fix times and random values, so that two answers to one request are equal."""
    current_index()
    assert {request.tool for request in REQUESTS} <= registry.tools().keys() | {"content_retrieve"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.utils.timezone.now", lambda: NOW)
        patch.setattr(Order._meta.get_field("placed_at"), "_get_default", lambda: NOW)
        patch.setattr(Ticket._meta.get_field("created"), "_get_default", lambda: NOW)
        patch.setattr("uuid.uuid4", lambda: uuid.UUID(int=7))
        yield
