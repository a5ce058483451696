"""Any order of retries, lost answers, refusals, crashes, callers and arguments."""

from __future__ import annotations

from collections import Counter

import pytest
from django.contrib.auth.models import Group, User
from hypothesis import given, settings
from hypothesis import strategies as st

from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.test import MCPClient

pytestmark = pytest.mark.django_db
CALLS = st.fixed_dictionaries(
    {
        "caller": st.sampled_from(["alice", "bob"]),
        "key": st.sampled_from(["one", "two", None]),
        "name": st.sampled_from(["rent", "lunch"]),
        "way": st.sampled_from(["done", "done", "refused", "no", "crash", "unavailable"]),
    }
)


class Expected:
    """The expected results and rows of a sequence of calls."""

    def __init__(self) -> None:
        self.made: dict = {}
        self.rows: Counter = Counter()

    def judge(self, call: dict, result) -> None:
        change, sent = (call["caller"], call["key"]), (call["name"], call["way"])
        if change in self.made:
            first, answer = self.made[change]
            if sent == first:
                assert (result.data, result.meta["replayed"]) == (answer, True)
            else:
                assert result.error.code == "CONFLICT"
            return
        assert "replayed" not in result.meta
        assert result.ok is (call["way"] == "done")
        if call["way"] not in ("crash", "unavailable"):
            self.rows[call["name"]] += 1
        if result.ok and call["key"]:
            self.made[change] = sent, result.data


# A crash without a key rolls nothing back: transactions are those of HTTP.
def keyed(call: dict) -> bool:
    return call["key"] is not None or call["way"] not in ("crash", "unavailable")


@settings(max_examples=max(5, settings.default.max_examples // 2))
@given(
    tool=st.sampled_from(["pay_by_key", "pay_by_header"]),
    calls=st.lists(CALLS.filter(keyed), max_size=8),
)
def test_a_change_is_made_once_in_any_order_of_calls(payer, tool, calls):
    Group.objects.all().delete()
    IdempotencyRecord.objects.all().delete()
    clients = {}
    for name in ("alice", "bob"):
        clients[name] = MCPClient(raise_request_exception=False)
        clients[name].force_authenticate(User.objects.get(username=name))
    expected = Expected()
    for call in calls:
        key = {} if call["key"] is None else {"idempotency_key": call["key"]}
        sent = {"name": call["name"], "way": call["way"], **key}
        # A lost answer is one that the client does not read.
        expected.judge(call, clients[call["caller"]].call_tool(tool, sent))
    rows = Counter(row.name.split()[0] for row in Group.objects.all())
    assert rows == expected.rows
    assert IdempotencyRecord.objects.count() == len(expected.made)
