"""Clients without forms: the first call returns a preview and a confirmation to send."""

from __future__ import annotations

import pytest
from django.core import signing
from django.core.management import call_command
from django.urls import path
from django.utils import timezone

from drf_mcp.contrib.writes import confirmation
from drf_mcp.contrib.writes.models import UsedConfirmation
from drf_mcp.routes.options import ToolOptions
from drf_mcp.views import MCPView
from tests.contrib.writes.confirmation import presses
from tests.contrib.writes.confirmation.presses import Press


def test_the_first_call_shows_the_call_and_next_makes_it(agent, press):
    result = agent.call("presses_destroy", pk=press.pk)
    assert result.code == "CONFIRMATION_REQUIRED"
    assert not result.is_error
    assert result.data["preview"] == {
        "tool": "presses_destroy",
        "arguments": {"id": press.pk},
        "object": f"press {press.pk}",
        "shown": {"id": press.pk, "name": "Hogarth", "owner": "alice", "fee": "0.00"},
    }
    assert Press.objects.filter(pk=press.pk).exists()
    result = agent.call("presses_destroy", **result.data["next"])
    assert result.envelope["success"] is True
    assert not Press.objects.filter(pk=press.pk).exists()


def test_a_confirmation_counts_once(agent, press):
    confirmed = agent.call("presses_charge", pk=press.pk).data["next"]
    assert agent.call("presses_charge", **confirmed).data == {"fee": 1}
    press.save()  # The press is as it was shown.
    again = agent.call("presses_charge", **confirmed)
    assert again.data["reason"] == "used"
    assert Press.objects.get().fee == 0


def test_an_invalid_confirmation_is_refused_with_a_new_one(agent, press):
    other = agent.call("detail_destroy", pk=press.pk).data["confirmation"]
    # A text that is signed with the key of the server, for another tool.
    signer = signing.TimestampSigner(salt="drf_mcp.contrib.writes.confirmation.presses_charge")
    sent = ["", "nonsense", 7, "a.b.c", "ü\x00", other, signer.sign("a.b.c.d")]
    results = [agent.call("presses_destroy", pk=press.pk, confirmation=text) for text in sent]
    assert [result.data["reason"] for result in results] == ["invalid"] * len(sent)
    assert agent.call("presses_destroy", **results[-1].data["next"]).envelope["success"]


def test_an_expired_confirmation_is_refused(agent, press, monkeypatch):
    confirmed = agent.call("presses_destroy", pk=press.pk).data["next"]
    monkeypatch.setattr(confirmation, "TOKEN_AGE", -1)
    assert agent.call("presses_destroy", **confirmed).data["reason"] == "expired"


def test_the_confirmation_of_another_caller_is_refused(serve, press):
    serving = serve()
    text = serving("alice").call("detail_destroy", pk=press.pk).data["confirmation"]
    result = serving("bob").call("detail_destroy", pk=press.pk, confirmation=text)
    assert result.data["reason"] == "foreign"
    assert Press.objects.exists()


def test_the_confirmation_of_other_arguments_is_refused(agent, press):
    text = agent.call("presses_charge", pk=press.pk, amount=1).data["confirmation"]
    result = agent.call("presses_charge", pk=press.pk, amount=100, confirmation=text)
    assert result.data["reason"] == "other_arguments"
    assert result.data["preview"]["arguments"]["amount"] == 100


def test_a_change_of_the_object_needs_a_new_confirmation(agent, press):
    asked = agent.call("presses_destroy", pk=press.pk)
    Press.objects.update(name="Virago")
    asked = agent.call("presses_destroy", **asked.data["next"])
    assert asked.data["reason"] == "changed"
    assert "has changed" in asked.envelope["error"]
    assert agent.call("presses_destroy", **asked.data["next"]).envelope["success"]


def test_the_preview_does_not_use_the_str_of_an_object(agent, press, monkeypatch):
    monkeypatch.setattr(Press, "__str__", lambda self: 1 / 0)
    first = agent.call("detail_destroy", pk=press.pk)
    assert first.data["preview"]["object"] == f"press {press.pk}"


def test_call_middleware_runs_around_the_preview(serve, press):
    agent = serve(CALL_MIDDLEWARE=["django.middleware.locale.LocaleMiddleware"])()
    first = agent.call("presses_destroy", pk=press.pk)
    assert first.data["preview"]["shown"]["name"] == "Hogarth"
    assert agent.call("presses_destroy", pk=press.pk + 99).code == "NOT_FOUND"
    assert agent.call("presses_destroy", **first.data["next"]).envelope["success"]


def test_throttles_of_the_view_count_the_call_and_not_the_preview(serve, press, monkeypatch):
    counted = []
    monkeypatch.setattr(presses.PressDetail, "check_throttles", lambda *args: counted.append(1))
    agent = serve()()
    first = agent.call("detail_destroy", pk=press.pk)
    assert not counted
    agent.call("detail_destroy", **first.data["next"])
    assert counted == [1]


@pytest.mark.slow
def test_every_envelope_style_and_revision_has_the_confirmation(serve):
    envelopes = ("OkEnvelope", "StatusEnvelope", "PlainEnvelope")
    shapes = [
        *(({"ENVELOPE_CLASS": f"drf_mcp.envelopes.{name}"}, {}) for name in envelopes),
        ({"ARGUMENTS": "grouped"}, {}),
        ({}, {"revision": "2025-11-25"}),
        ({}, {"revision": "2025-06-18"}),
    ]
    for settings, options in shapes:
        press = Press.objects.create(name="Hogarth")
        agent = serve(**settings)(**options)
        arguments = {"kwargs": {"pk": press.pk}} if "ARGUMENTS" in settings else {"pk": press.pk}
        first = agent.call("detail_destroy", **arguments)
        assert Press.objects.exists()
        agent.call("detail_destroy", **first.data["next"])
        assert not Press.objects.exists(), (settings, options)


def test_destructive_tools_and_tools_with_the_option_need_a_confirmation(serve, monkeypatch):
    """At an endpoint with the option, all tools that write need one."""

    def asking(**options) -> set[str]:
        tools = serve(path("own/mcp", view), **options)(path=at).tools()
        names.update(tools)
        return {n for n, t in tools.items() if "confirmation" in t["inputSchema"]["properties"]}

    names: set[str] = set()
    at, view = "/mcp", MCPView.as_view(tool_options={"confirm": True})
    assert asking(CONFIRM=False) == {"presses_charge"}
    destroying = {name for name in names if name.endswith("_destroy")}
    assert asking() == {*destroying, "presses_charge", "purge"}
    with monkeypatch.context() as patch:
        patch.setattr(presses.PurgeView, "mcp_tool", ToolOptions.of(confirm=False), raising=False)
        assert asking() == {*destroying, "presses_charge"}
    at = "/own/mcp"
    assert asking(CONFIRM=False) == {n for n in names if not n.endswith(("_list", "_retrieve"))}


def test_used_confirmations_expire(agent, press):
    first = agent.call("detail_destroy", pk=press.pk)
    agent.call("detail_destroy", **first.data["next"])
    call_command("mcp_expire", verbosity=0)
    assert UsedConfirmation.objects.count() == 1
    UsedConfirmation.objects.update(expires=timezone.now())
    call_command("mcp_expire", verbosity=0)
    assert not UsedConfirmation.objects.exists()


def test_a_replay_needs_no_confirmation(serve, press, monkeypatch):
    options = ToolOptions.of(confirm=True, idempotency_key=True)
    monkeypatch.setattr(presses.PurgeView, "mcp_tool", options, raising=False)
    agent = serve()()
    first = agent.call("purge", idempotency_key="k1")
    assert first.code == "CONFIRMATION_REQUIRED"
    done = agent.call("purge", **first.data["next"])
    assert done.envelope["success"]
    for arguments in (first.data["next"], {"idempotency_key": "k1"}):
        again = agent.call("purge", **arguments)
        assert again.data == done.data
