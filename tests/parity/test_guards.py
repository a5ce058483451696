"""Guards of writes apply to tools only and not to plain HTTP."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

import pytest

from drf_mcp.contrib.writes.models import IdempotencyRecord, UsedConfirmation
from drf_mcp.exposure import registry
from tests.parity.answers import MODELS, observed, over_http
from tests.parity.shop_requests import REQUESTS, rows_of_alice

WRITES = [request for request in REQUESTS if request.method != "GET"]
OFF = {"CONFIRM": False, "IDEMPOTENCY_KEYS": False, "REPEAT_WINDOW": 0}
ON = {
    **dict.fromkeys(OFF, True),
    "REPEAT_WINDOW": 60,
    "AUDIT_STRICT": True,
    "READ_ONLY": True,
    "THROTTLE_CLASSES": ["tests.dispatch.narrowing.views.Refusing"],
}
HEADERS = {"HTTP_IDEMPOTENCY_KEY": "k", "HTTP_IF_MATCH": '"other"'}
CONTROLS = "dry_run=true&confirmation=x&idempotency_key=k&if_match=other"

pytestmark = pytest.mark.usefixtures("stopped_clock", "built_index")


@pytest.mark.slow
@pytest.mark.parametrize("request_", WRITES, ids=str)
def test_a_request_sent_twice_does_the_same_with_all_guards_and_with_none(
    request_, http_of, settings, monkeypatch
):
    sent, http = request_.about(rows_of_alice()), http_of("admin")
    http.raise_request_exception = False
    at = f"{sent.path}{'&' if '?' in sent.path else '?'}{CONTROLS}"

    def send() -> list[Any]:
        numbers = itertools.count(1)
        monkeypatch.setattr("uuid.uuid4", lambda: uuid.UUID(int=next(numbers) << 96))
        return [over_http(http, sent.method, at, sent.body, **HEADERS) for _ in range(2)]

    seen = []
    models = [*MODELS, IdempotencyRecord, UsedConfirmation]
    for guards in (OFF, ON):
        settings.DRF_MCP = {**settings.DRF_MCP, **guards}
        registry.reload()
        answers, effect = observed(send, models)
        seen.append([(a.status_code, a.content) for a in answers] + [effect.tables, effect.sql])
    assert seen[0] == seen[1]
