"""The shared behaviour of commands: JSON for programs, lines that fit the screen for people."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.color import no_style
from django.utils import timezone

from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.exposure import registry
from drf_mcp.management.screen import Screen

pytestmark = pytest.mark.django_db


def run_command(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.mark.slow
def test_every_command_prints_json(subtests):
    for command in [
        ("mcp_tools",),
        ("mcp_tools", "why", "orders_refund", "--as", "alice"),
        ("mcp_tools", "findings"),
        ("mcp_tools", "risks"),
        ("mcp_config", "all"),
        ("mcp_expire",),
        ("mcp_token", "create", "alice", "a script"),
        ("mcp_token", "list"),
    ]:
        with subtests.test(command=command):
            assert json.loads(run_command(*command, "--json")) is not None


@pytest.mark.slow
def test_a_lock_file_and_its_changes_are_printed_as_json(tmp_path):
    file = str(tmp_path / "lock.json")
    locked = json.loads(run_command("mcp_tools", "lock", file, "--json"))
    assert locked == {"file": file, "tools": len(registry.tools())}
    assert json.loads(run_command("mcp_tools", "check", file, "--json")) == []


def test_deleted_rows_are_printed_as_json_with_names_without_spaces():
    deleted = json.loads(run_command("mcp_expire", "--json"))
    assert "expired_archives" in deleted
    assert all(name.isidentifier() for name in deleted)


# --- Tables -----------------------------------------------------------------------------------

COLUMNS = ("TOKEN", "USER", "OPENS")


def test_a_table_with_room_has_aligned_columns():
    lines = [*Screen(40, no_style()).list_table(COLUMNS, [("mcp_a", "alice", "all tools")])]
    assert lines == ["TOKEN  USER   OPENS", "mcp_a  alice  all tools"]


def test_a_table_without_room_has_a_line_for_each_cell():
    lines = [
        *Screen(20, no_style()).list_table(COLUMNS, [("mcp_a", "alice", "orders_* customers_*")])
    ]
    assert lines == [*("mcp_a", "  USER   alice", "  OPENS  orders_* cu"), "         stomers_*"]
    assert max(map(len, lines)) <= 20


@pytest.mark.parametrize("columns", ["40", "80"])
def test_tokens_with_long_names_fit(monkeypatch, columns, django_user_model):
    monkeypatch.setenv("COLUMNS", columns)
    user = django_user_model.objects.create_user("somebody-with-a-long-name")
    token = AgentToken(user=user, name="Agent " * 10, tools=["orders_*", "customers_*"] * 3)
    token.expires = timezone.now() + timezone.timedelta(days=3)
    token.issue()
    token.save()
    lines = run_command("mcp_token", "list").splitlines()
    assert max(map(len, lines)) <= int(columns)
