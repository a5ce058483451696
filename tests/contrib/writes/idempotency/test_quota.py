"""The limit of the answers that are stored for a caller."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.settings import say_bound

pytestmark = pytest.mark.django_db


def pay(payer, key: str):
    return payer.call("pay_by_key", name="rent", idempotency_key=key)


@pytest.mark.parametrize("bound", ["MAX_KEYS", "MAX_KEYS_CHARACTERS"])
def test_a_change_whose_answer_cannot_be_stored_is_not_made(payer, settings, bound):
    settings.DRF_MCP = {**settings.DRF_MCP, bound: 2}
    made = [pay(payer, key) for key in ("a", "b", "c")]
    refused = made[-1]
    assert refused.code == "RATE_LIMIT_EXCEEDED"
    assert say_bound(bound) in refused.envelope["error"]
    assert refused.data["retry_after_seconds"] > 0
    rents = Group.objects.filter(name__startswith="rent")
    assert rents.count() == IdempotencyRecord.objects.count()


def test_the_quota_counts_new_keys_of_one_caller(payer, agent_of, settings):
    """A replay and a call without a key do not count."""
    first = pay(payer, "a")
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_KEYS": 1}
    assert pay(payer, "a").data == first.data
    assert pay(payer, "b").code == "RATE_LIMIT_EXCEEDED"
    assert not payer.call("pay_by_key", name="rent").is_error
    assert not pay(agent_of("bob"), "a").is_error
