"""Confirmations in the test client, in the assertions of tests and on the terminal."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from drf_mcp.test import MCPClient, assert_confirms
from tests.contrib.writes.confirmation.presses import Press


def client(**options: Any) -> MCPClient:
    own = MCPClient(**options)
    own.force_authenticate(User.objects.get(username="alice"))
    return own


@pytest.fixture(autouse=True)
def served(serve):
    serve()


def test_the_test_client_answers_a_confirmation(press):
    asked = []
    declined = client(answer=lambda params: None).call_tool("detail_destroy", pk=press.pk)
    assert declined.error.code == "DECLINED"
    assert Press.objects.exists()
    result = client(answer=lambda params: asked.append(params) or {}).call_tool(
        "detail_destroy", pk=press.pk
    )
    assert result.ok
    assert "Hogarth" in asked[0]["message"]


def test_the_assertion_fails_without_a_confirmation_and_for_a_refused_call(press):
    with pytest.raises(AssertionError, match="presses_create does not ask"):
        assert_confirms(client(), "presses_create")
    with pytest.raises(AssertionError, match="NOT_FOUND"):
        assert_confirms(client(), "detail_destroy", {"pk": 999})


# --- The terminal -------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch):
    """Run ``mcp_call`` with a text that is typed on the terminal; None for no terminal."""

    def run(*args: str, typed: str | None = None) -> tuple[Any, Any]:
        monkeypatch.setattr(
            "sys.stdin", type("Input", (), {"isatty": lambda self: typed is not None})()
        )
        monkeypatch.setattr("builtins.input", lambda prompt: typed)
        out, err, code = io.StringIO(), io.StringIO(), 0
        try:
            call_command("mcp_call", *args, stdout=out, stderr=err)
        except SystemExit as exc:
            code = exc.code
        answer = json.loads(out.getvalue())
        assert answer["success"] is (code == 0)
        return answer, err.getvalue() or code

    return run


def test_the_terminal_asks_for_a_confirmation(run, press):
    """Only y is a yes."""
    answer, _ = run("detail_destroy", f"pk={press.pk}", typed="")
    assert answer["data"]["error_code"] == "DECLINED"
    assert Press.objects.exists()
    answer, shown = run("detail_destroy", f"pk={press.pk}", typed="y")
    assert answer["success"]
    assert 'name: "Hogarth"\n' in shown


def test_a_script_sends_the_confirmation_or_the_option_yes(run, press):
    answer, code = run("detail_destroy", f"pk={press.pk}")
    assert (answer["data"]["error_code"], code) == ("CONFIRMATION_REQUIRED", 3)
    confirmed, _ = run("detail_destroy", json.dumps(answer["data"]["next"]))
    assert confirmed["success"]
    other = Press.objects.create(name="Virago")
    answer, shown = run("detail_destroy", f"pk={other.pk}", "--yes")
    assert answer["success"]
    assert "Virago" in shown
