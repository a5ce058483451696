"""In any order of calls, one confirmation makes one call about the shown state."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drf_mcp.contrib.writes import confirmation
from tests.contrib.writes.confirmation.presses import Press

STEPS = [
    *("ask", "ask as bob", "confirm", "repeat", "confirm as bob", "confirm too late"),
    *("other arguments", "change"),
]


@pytest.mark.slow
@settings(max_examples=max(5, settings.default.max_examples // 3))
@given(steps=st.lists(st.sampled_from(STEPS), max_size=9))
def test_each_confirmation_of_the_present_state_makes_one_call(serve, press, steps):
    """A confirmation is for alice, one amount and one state; bob has no permission."""
    serving = serve()
    alice, bob = serving("alice"), serving("bob")
    Press.objects.filter(pk=press.pk).update(fee=0, name="Hogarth")
    fee, name, given_at, used = 0, "Hogarth", None, True
    text = "none"
    for number, step in enumerate(steps):
        if step == "ask":
            text = alice.call("presses_charge", pk=press.pk).data["confirmation"]
            given_at, used = (fee, name), False
        elif step == "ask as bob":
            assert bob.call("presses_charge", pk=press.pk).code == "FORBIDDEN"
        elif step == "change":
            name = f"Hogarth {number}"
            Press.objects.filter(pk=press.pk).update(name=name)
        elif step == "confirm as bob":
            answer = bob.call("presses_charge", pk=press.pk, confirmation=text)
            assert answer.code == "FORBIDDEN"
        elif step == "confirm too late":
            with mock.patch.object(confirmation, "TOKEN_AGE", -1):
                answer = alice.call("presses_charge", pk=press.pk, confirmation=text)
            assert answer.data["reason"] == ("invalid" if text == "none" else "expired")
        elif step == "other arguments":
            answer = alice.call("presses_charge", pk=press.pk, amount=50, confirmation=text)
            assert answer.code == "CONFIRMATION_REQUIRED"
        else:
            answer = alice.call("presses_charge", pk=press.pk, confirmation=text)
            made = not used and given_at == (fee, name)
            assert answer.envelope["success"] is made
            fee, used = (fee + 1, True) if made else (fee, used)
        assert Press.objects.get(pk=press.pk).fee == fee
