"""Outcomes of every kind, each with the schema of the view's data, for all envelopes."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import Any

from django.utils.functional import lazystr
from rest_framework.exceptions import ErrorDetail
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.utils.serializer_helpers import ReturnDict

from drf_mcp.envelopes import (
    Envelope,
    OkEnvelope,
    PlainEnvelope,
    ResponseV2Envelope,
    StatusEnvelope,
)
from drf_mcp.outcomes import (
    Category,
    Failure,
    Fidelity,
    Outcome,
    Pagination,
    Problem,
    RateLimit,
    Severity,
    Warning,
)

STRUCTURED: list[type[Envelope]] = [ResponseV2Envelope, OkEnvelope, StatusEnvelope]
ENVELOPES: list[type[Envelope]] = [*STRUCTURED, PlainEnvelope]

ROW_SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}},
}
ROWS_SCHEMA = {"type": "array", "items": ROW_SCHEMA}
PAGE_SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "next": {"type": ["string", "null"], "format": "uri"},
        "previous": {"type": ["string", "null"], "format": "uri"},
        "results": ROWS_SCHEMA,
    },
    "required": ["count", "results"],
}

MISSING_NAME = Problem(
    code="required",
    message="This field is required.",
    pointer="/name",
    accepted="a string of at most 50 characters",
    remediation="Provide 'name' and call again.",
)
NESTED = Problem(
    code="invalid",
    message="A valid integer is required.",
    pointer="/items/0/quantity",
    received="many",
    remediation="Send a whole number.",
)


def encode(value: Any) -> str:
    return json.dumps(value, cls=JSONEncoder, separators=(",", ":"), ensure_ascii=False)


def parsed(envelope: Envelope, outcome: Outcome) -> Any:
    return json.loads(encode(envelope.render(envelope.prepare(outcome, encode))))


def invalid(*problems: Problem) -> Outcome:
    failure = Failure(
        code="VALIDATION_ERROR",
        category=Category.VALIDATION,
        message=f"Validation failed: {problems[0].message}",
        remediation="Correct the arguments and call again.",
        problems=problems,
    )
    data = {"name": [ErrorDetail("This field is required.", code="required")]}
    return Outcome("orders_create", 400, data, failure, request_id="req_1")


PAGE = Outcome(
    "orders_list",
    200,
    {
        "count": 3,
        "next": "https://example.com/orders/?page=2",
        "previous": None,
        "results": [{"id": 1, "name": "a"}, {"id": 2, "name": None}],
    },
    pagination=Pagination(True, 3, 2, page=1, cursor="2", next={"page": 2}),
)
LAST_CURSOR_PAGE = Outcome(
    "orders_list",
    200,
    {"next": None, "previous": "https://example.com/orders/?cursor=p", "results": []},
    pagination=Pagination(False, page_size=2),
)
NOT_FOUND = Outcome(
    "customers_retrieve",
    404,
    {"detail": ErrorDetail("Not found.", code="not_found")},
    Failure("NOT_FOUND", Category.NOT_FOUND, "Not found.", "Look up the identifier."),
    request_id="req_2",
)
THROTTLED = Outcome(
    "orders_list",
    429,
    {"detail": ErrorDetail("Request was throttled.", code="throttled")},
    Failure(
        "RATE_LIMIT_EXCEEDED",
        Category.RATE_LIMIT,
        "Rate limit exceeded: 100 requests per minute",
        "Wait 45 seconds before retrying.",
        context={"retry_after_seconds": 45},
    ),
    rate_limit=RateLimit(100, 0, "2026-09-21T14:13:20Z", "minute", 45),
)
SOFT = Outcome(
    "validate_datachain",
    200,
    None,
    Failure(
        "VALIDATION_ERROR",
        Category.VALIDATION,
        "The datachain is not valid.",
        "Add what is missing.",
        (Problem("element_required", "Category 'purpose' is empty.", "/elements"),),
        soft=True,
    ),
)
SOFT_WITH_DATA = Outcome(
    "get_elements",
    200,
    [{"id": 1, "name": "a"}, None],
    Failure("ELEMENT_NOT_FOUND", Category.NOT_FOUND, "1 not found.", "List them.", soft=True),
)
TRIMMED = Outcome(
    "orders_list",
    200,
    [{"id": 1, "name": "a"}],
    warnings=(
        Warning("CONTENT_TRUNCATED", "2 rows left out", Severity.INFO, {"dropped_count": 2}),
    ),
    fidelity=Fidelity("partial", ("2", "3"), {"archive-1": "sha256:abc"}),
)
WARNED = Outcome(
    "orders_retrieve",
    200,
    {"id": 1, "name": "a"},
    warnings=(
        Warning("STALE_CACHE", "Cache data is 2 hours old"),
        Warning(
            "PARTIAL_FAILURE",
            "1 source failed",
            Severity.ERROR,
            remediation="Ask again for source b.",
        ),
    ),
    suggestions=("Refresh the cache.", "Ask again for source b."),
    telemetry={"duration_ms": 245.0},
)
RICH = Outcome(
    "orders_retrieve",
    200,
    ReturnDict(
        {
            "id": 1,
            "name": lazystr("lazy"),
            "price": decimal.Decimal("1.50"),
            "at": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
            "key": uuid.UUID(int=1),
        },
        serializer=None,
    ),
)

TABLE: dict[str, tuple[Outcome, dict[str, Any]]] = {
    "object": (Outcome("t", 200, {"id": 1, "name": "a"}), ROW_SCHEMA),
    "rich object": (RICH, ROW_SCHEMA),
    "object, nullable": (Outcome("t", 200, None), {**ROW_SCHEMA, "type": ["object", "null"]}),
    "list": (Outcome("t", 200, [{"id": 1, "name": None}]), ROWS_SCHEMA),
    "list of anything": (Outcome("t", 200, [1, "a", None]), {}),
    "scalar": (Outcome("t", 200, 3), {"type": "integer"}),
    "nothing": (Outcome("t", 204), {}),
    "page": (PAGE, PAGE_SCHEMA),
    "last cursor page": (LAST_CURSOR_PAGE, PAGE_SCHEMA),
    "page of a view that pages on request": (Outcome("t", 200, [{"id": 1}]), PAGE_SCHEMA),
    "page known as its rows": (PAGE, ROWS_SCHEMA),
    "missing argument": (invalid(MISSING_NAME), ROW_SCHEMA),
    "nested problems": (invalid(NESTED, MISSING_NAME), ROW_SCHEMA),
    "not found": (NOT_FOUND, ROW_SCHEMA),
    "throttled": (THROTTLED, PAGE_SCHEMA),
    "soft failure": (SOFT, ROW_SCHEMA),
    "soft failure with data": (SOFT_WITH_DATA, ROWS_SCHEMA),
    "trimmed": (TRIMMED, ROWS_SCHEMA),
    "warned": (WARNED, ROW_SCHEMA),
}
