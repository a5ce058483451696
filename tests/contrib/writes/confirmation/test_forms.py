"""Clients with forms ask their user to confirm a call by a form without fields."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from drf_mcp.contrib.writes import confirmation
from tests.agents import Agent
from tests.contrib.writes.confirmation.conftest import FORMS
from tests.contrib.writes.confirmation.presses import Press


def call(agent: Agent, name: str, asked: Any = None, answers: Any = None, **arguments: Any) -> Any:
    """Call a tool as a client with forms; ``asked`` is the result of the round before."""
    answers = {"confirm_call": {"action": "accept", "content": {}}} if answers is None else answers
    further = {}
    if asked is not None:
        further = {"requestState": asked["requestState"], "inputResponses": answers}
    return agent.result("tools/call", name=name, arguments=arguments, **FORMS, **further)


def code(result: Any) -> str:
    return result["structuredContent"]["data"]["error_code"]


def test_the_form_shows_the_tool_the_object_and_the_arguments(agent, press):
    result = call(agent, "presses_destroy", pk=press.pk)
    assert result["resultType"] == "input_required"
    params = result["inputRequests"]["confirm_call"]["params"]
    assert params["requestedSchema"] == {"type": "object", "properties": {}}
    assert params["message"].split("\n") == [
        "Delete a press?",
        f"press {press.pk}",
        f"id: {press.pk}",
        'name: "Hogarth"',
        'owner: "alice"',
        'fee: "0.00"',
        "If it is deleted, what depends on it goes too.",
        f'Arguments: {{"id": {press.pk}}}',
        "Nothing was run or validated: the call itself may still be refused.",
    ]
    assert Press.objects.exists()
    result = call(agent, "presses_destroy", result, pk=press.pk)
    assert result["structuredContent"]["success"]
    assert not Press.objects.exists()


def test_a_user_who_declines_or_cancels_ends_the_call(agent, press):
    asked = call(agent, "presses_destroy", pk=press.pk)
    for action in ("decline", "cancel"):
        answers = {"confirm_call": {"action": action}}
        result = call(agent, "presses_destroy", asked, answers, pk=press.pk)
        assert code(result) == "DECLINED"
        assert "isError" not in result
        assert "Do not repeat" in result["structuredContent"]["data"]["remediation"]
        assert Press.objects.exists()


def test_an_accepted_form_counts_once(agent, press):
    asked = call(agent, "presses_charge", pk=press.pk)
    call(agent, "presses_charge", asked, pk=press.pk)
    press.save()  # The press is as it was shown.
    again = call(agent, "presses_charge", asked, pk=press.pk)
    assert "used before" in again["inputRequests"]["confirm_call"]["params"]["message"]
    assert Press.objects.get().fee == 0


def test_an_object_that_changed_meanwhile_is_confirmed_anew(agent, press, monkeypatch):
    """A form is valid for longer than a confirmation that a model sends."""
    asked = call(agent, "presses_destroy", pk=press.pk)
    Press.objects.update(fee=7)
    monkeypatch.setattr(confirmation, "TOKEN_AGE", -1)
    anew = call(agent, "presses_destroy", asked, pk=press.pk)
    assert "has changed" in anew["inputRequests"]["confirm_call"]["params"]["message"]
    assert call(agent, "presses_destroy", anew, pk=press.pk)["structuredContent"]["success"]


def test_a_caller_without_permission_is_refused_without_a_form(serve, press):
    result = call(serve()("bob"), "presses_destroy", pk=press.pk)
    assert code(result) == "FORBIDDEN"


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()
