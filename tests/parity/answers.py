"""Requests over plain HTTP and as tool calls, and the comparison of their answers and effects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from example_project.shop.models import Customer, Order, OrderLine, Product, Ticket
from tests.agents import Result

MODELS = [Customer, Product, Order, OrderLine, Ticket]
# The error codes that a status may have.
CODES = {
    400: {"VALIDATION_ERROR", "MISSING_REQUIRED", "DUPLICATE_ENTRY", "INVALID_FORMAT"},
    401: {"UNAUTHORIZED"},
    403: {"FORBIDDEN"},
    404: {"NOT_FOUND"},
    405: {"METHOD_NOT_ALLOWED"},
    409: {"CONFLICT"},
    429: {"RATE_LIMIT_EXCEEDED"},
    500: {"INTERNAL_ERROR"},
}
PAGE_MEMBERS = ("count", "next", "previous")


@dataclass(frozen=True)
class Effect:
    """What a request did: its SQL, and the rows of the tables if it wrote to them."""

    tables: dict[str, list[dict[str, Any]]]
    sql: list[str]


class Undone(Exception):
    """Rolls back a savepoint."""


def observed(send: Callable[[], Any], models: Sequence[type[Model]] = MODELS) -> tuple[Any, Effect]:
    try:
        with transaction.atomic():
            with CaptureQueriesContext(connection) as queries:
                answer = send()
            sql = [re.sub(r'"s\d+_x\d+"', "?", query["sql"]) for query in queries]
            # That a credential records its use is no effect of the request.
            tables = [f'"{model._meta.db_table}"' for model in models]
            changes = [each for each in sql if each.startswith(("INSERT", "UPDATE", "DELETE"))]
            is_written = any(table in statement for statement in changes for table in tables)
            written = models if is_written else ()
            effect = Effect(
                {m.__name__: list(m.objects.order_by("pk").values()) for m in written}, sql
            )
            raise Undone
    except Undone:
        return answer, effect


def over_http(http: APIClient, method: str, path: str, body: Any = None, **headers: str) -> Any:
    content = {} if body is None else {"data": json.dumps(body)}
    return http.generic(method, path, content_type="application/json", **content, **headers)


def body_of(response: Any) -> Any:
    return json.loads(response.content) if response.content else None


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    else:
        yield str(value)


def assert_same_answer(response: Any, result: Result, *, many: bool = False) -> None:
    if response.status_code < 400:
        assert not result.is_error, result.envelope
        expected = expected_data(body_of(response))
        assert result.data == ({"results": [expected]} if many else expected)
    else:
        assert result.is_error
        assert result.code in CODES[response.status_code], (response.content, result.envelope)
        messages = {problem["message"] for problem in result.problems} | {result.envelope["error"]}
        assert set(texts(body_of(response))) <= messages


def expected_data(body: Any) -> Any:
    if body is None:
        return {}
    if isinstance(body, dict) and "results" in body:
        return {key: member for key, member in body.items() if key not in PAGE_MEMBERS}
    return body
