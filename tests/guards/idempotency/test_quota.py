"""How many answers are kept for a caller by their keys."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from drf_mcp.guards.idempotency import records
from drf_mcp.models import IdempotencyRecord

pytestmark = pytest.mark.django_db


def pay(payer, key: str):
    return payer.call("pay_by_key", name="rent", idempotency_key=key)


@pytest.mark.parametrize("limits", [{"MAX_RECORDS": 2}, {"MAX_SIZE": 2}])
def test_a_change_that_nothing_could_remember_is_not_made(payer, monkeypatch, limits):
    for name, value in limits.items():
        monkeypatch.setattr(records, name, value)
    made = [pay(payer, key) for key in ("a", "b", "c")]
    refused = made[-1]
    assert refused.code == "RATE_LIMIT_EXCEEDED"
    assert refused.data["retry_after_seconds"] > 0
    assert (
        Group.objects.filter(name__startswith="rent").count() == IdempotencyRecord.objects.count()
    )


def test_a_key_that_was_used_is_answered_however_many_there_are(payer, monkeypatch):
    first = pay(payer, "a")
    monkeypatch.setattr(records, "MAX_RECORDS", 1)
    assert pay(payer, "a").data == first.data
    assert pay(payer, "b").code == "RATE_LIMIT_EXCEEDED"


def test_another_caller_has_room_of_their_own(payer, agent_of, monkeypatch):
    monkeypatch.setattr(records, "MAX_RECORDS", 1)
    pay(payer, "a")
    assert not pay(agent_of("bob"), "a").is_error


def test_without_a_key_the_quota_counts_nothing(payer, monkeypatch):
    monkeypatch.setattr(records, "MAX_RECORDS", 0)
    assert not payer.call("pay_by_key", name="rent").is_error
