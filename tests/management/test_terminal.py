"""What all commands have in common: JSON for programs, lines that fit for people."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.color import no_style
from django.utils import timezone

from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.management import screen
from drf_mcp.management.screen import Screen, show_progress
from drf_mcp.tools import registry

pytestmark = pytest.mark.django_db


def tell(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.mark.slow
def test_every_command_tells_json(subtests):
    for command in [
        ("mcp_tools",),
        ("mcp_tools", "list", "--names"),
        ("mcp_tools", "unexposed"),
        ("mcp_tools", "why", "orders_refund", "--as", "alice"),
        ("mcp_tools", "findings"),
        ("mcp_tools", "size"),
        ("mcp_tools", "risks"),
        ("mcp_config", "all"),
        ("mcp_expire",),
        ("mcp_token", "create", "alice", "a script"),
        ("mcp_token", "list"),
    ]:
        with subtests.test(command=command):
            assert json.loads(tell(*command, "--json")) is not None


@pytest.mark.slow
def test_a_lock_and_its_changes_are_told_as_json(tmp_path):
    file = str(tmp_path / "lock.json")
    locked = json.loads(tell("mcp_tools", "lock", file, "--json"))
    assert locked == {"file": file, "tools": len(registry.tools())}
    assert json.loads(tell("mcp_tools", "check", file, "--json")) == []


def test_what_was_deleted_is_told_as_json_by_names_without_spaces():
    told = json.loads(tell("mcp_expire", "--json"))
    assert "expired_archives" in told
    assert all(name.isidentifier() for name in told)


def test_names_are_those_of_the_tools():
    assert tell("mcp_tools", "list", "--names").split() == list(registry.tools())


# --- Tables -----------------------------------------------------------------------------------

COLUMNS = ("TOKEN", "USER", "OPENS")


def test_a_table_with_room_has_aligned_columns():
    lines = [*Screen(40, no_style()).list_table(COLUMNS, [("mcp_a", "alice", "all tools")])]
    assert lines == ["TOKEN  USER   OPENS", "mcp_a  alice  all tools"]


def test_a_table_without_room_has_a_line_for_each_cell():
    lines = [
        *Screen(20, no_style()).list_table(COLUMNS, [("mcp_a", "alice", "orders_* customers_*")])
    ]
    assert lines == [
        *("mcp_a", "  USER   alice", "  OPENS  orders_* cu"),
        "         stomers_*",
    ]
    assert max(map(len, lines)) <= 20


@pytest.mark.parametrize("columns", ["40", "80"])
def test_tokens_with_long_names_fit(monkeypatch, columns, django_user_model):
    monkeypatch.setenv("COLUMNS", columns)
    user = django_user_model.objects.create_user("somebody-with-a-long-name")
    token = AgentToken(user=user, name="Agent " * 10, tools=["orders_*", "customers_*"] * 3)
    token.expires = timezone.now() + timezone.timedelta(days=3)
    token.issue()
    token.save()
    lines = tell("mcp_token", "list").splitlines()
    assert max(map(len, lines)) <= int(columns)


# --- Work that takes a while --------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def write(self, text: str, ending: str = "") -> int:
        return super().write(text + ending)


def test_work_that_takes_a_while_is_counted_and_the_line_is_cleared(monkeypatch):
    monkeypatch.setattr(screen, "PATIENCE", 0)
    monkeypatch.setattr(screen, "INTERVAL", 0)
    terminal = Terminal()
    assert [*show_progress(terminal, "Describing tools", [1, 2, 3])] == [1, 2, 3]
    assert "Describing tools: 2 of 3" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_short_work_says_nothing():
    terminal = Terminal()
    assert [*show_progress(terminal, "Describing tools", [1, 2, 3])] == [1, 2, 3]
    assert terminal.getvalue() == ""


def test_no_program_reads_how_far_work_is(monkeypatch):
    monkeypatch.setattr(screen, "PATIENCE", 0)
    stream = io.StringIO()
    assert [*show_progress(stream, "Describing tools", [1])] == [1]
    assert stream.getvalue() == ""


# --- Completion -------------------------------------------------------------------------------


def test_zsh_gets_the_same_by_its_own_function_for_bash():
    script = tell("mcp_tools", "completion", "zsh")
    assert "bashcompinit" in script
    registration = tell("mcp_tools", "completion", "bash").splitlines()[-1]
    assert registration.startswith("complete -o default -F _drf_mcp_tools")
    assert script.splitlines()[-1] == registration
