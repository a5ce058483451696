"""Dry runs of every writing tool of the shop, and the assertion that projects use."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.core import mail
from django.db import connection

from drf_mcp.exposure import registry
from drf_mcp.test import MCPClient, assert_dry_run_changes_nothing
from drf_mcp.test.parity import observe_effects
from tests.parity.shop_requests import REQUESTS, rows_of_alice


@pytest.fixture(autouse=True)
def dry_runs(settings, db) -> None:
    settings.DRF_MCP = {**settings.DRF_MCP, "INCLUDE": ["PUT *"]}
    registry.reload()


@pytest.fixture
def client(django_user_model) -> MCPClient:
    client = MCPClient()
    client.force_authenticate(django_user_model.objects.get(username="admin"))
    return client


def sequences() -> dict[str, int | None]:
    """Return the last number of each sequence."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, seq FROM sqlite_sequence")
        else:
            cursor.execute("SELECT sequencename, last_value FROM pg_sequences")
        return dict(cursor.fetchall())


def test_every_row_and_sequence_is_left_as_documented(client):
    """Rows are the same afterwards. Only SQLite takes numbers of sequences back."""
    tools = registry.tools()
    tried = {n for n, t in tools.items() if any(c.name == "dry_run" for c in t.controls)}
    rows, before, left = rows_of_alice(), observe_effects(), {}
    for request in (each for each in REQUESTS if each.tool in tried):
        asked, numbers = request.about(rows), sequences()
        result = client.call_tool(asked.tool, {**asked.arguments, "dry_run": True})
        assert result.meta["dry_run"]["note"]
        left[str(request)] = observe_effects() != before
        used = {name for name, number in sequences().items() if number != numbers[name]}
        assert connection.vendor != "sqlite" or not used, request
    assert len(left) >= len(tried)
    assert [name for name, is_changed in left.items() if is_changed] == []


@pytest.mark.slow
def test_the_assertion_fails_for_a_failed_call_and_a_lasting_change(client, monkeypatch):
    order = {"pk": rows_of_alice()["paid"], "reason": "late"}
    Group.objects.create(name="old")
    call = MCPClient.call_tool
    for tool, arguments, deed, message in [
        ("stats", {}, None, "stats has no dry run"),
        ("orders_refund", {**order, "pk": 10**9}, None, "orders_refund: NOT_FOUND"),
        (
            *("orders_refund", order),
            lambda: mail.send_mail("", "", "", ["a@b.example"]),
            "new: a mail",
        ),
        (
            *("orders_refund", order),
            lambda: Group.objects.create(name="kept"),
            "new: auth_group of default",
        ),
        ("orders_refund", order, Group.objects.all().delete, "gone: auth_group of default"),
    ]:

        def call_and_leave(*args, deed=deed, **kwargs):
            if deed is not None:
                deed()
            return call(*args, **kwargs)

        monkeypatch.setattr(MCPClient, "call_tool", call_and_leave)
        with pytest.raises(AssertionError, match=message):
            assert_dry_run_changes_nothing(tool, arguments, client=client)
