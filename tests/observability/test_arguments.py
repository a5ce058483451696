"""Arguments in the log: only if the setting asks for them, and never a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.arguments.errors import MASK, shorten_value
from drf_mcp.exposure import registry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


DETAILS = {"api_key": "k", "size": 3}
LOGGED = [
    ({"title": "A walk"}, {"title": "A walk"}),
    # Fields that are write-only or named like a secret.
    ({"note": "between us"}, {"note": MASK}),
    (
        {"password": "hunter2", "details": DETAILS},
        {"password": MASK, "details": {"api_key": MASK, "size": 3}},
    ),
    # JSON that was sent as a string.
    ({"details": json.dumps([DETAILS])}, {"details": [{"api_key": MASK, "size": 3}]}),
    # Refused arguments, and arguments that are no object.
    (
        {"title": "A walk", "secret": "s", "note": "n"},
        {"title": "A walk", "secret": MASK, "note": MASK},
    ),
    # Names that the tool does not have: one may be a mistyped name of a secret.
    ({"pasword": "hunter2", "title": "A walk"}, {"pasword": MASK, "title": "A walk"}),
    (
        {"owners": [{"name": "Ada", "pni": "1234"}], "title": "A walk"},
        {"owners": [{"name": "Ada", "pni": MASK}], "title": "A walk"},
    ),
    ({"body": {"noet": "n"}}, {"body": MASK}),
    ({"details": {"whatever": {"else": 1}}}, {"details": {"whatever": {"else": 1}}}),
    ("password=hunter2", MASK),
    (["hunter2"], MASK),
    (7, MASK),
    (None, None),
    # Long texts and lists are cut.
    ({"title": "x" * 600}, {"title": "x" * 500 + "… (600 characters)"}),
    ({"details": list(range(30))}, {"details": [*range(20), "… (10 more)"]}),
]


@pytest.fixture
def logged(agent, records):
    """Call the tool and return its arguments in the log."""

    def call(arguments: Any) -> Any:
        agent.post(*agent.frame("tools/call", {"name": "cards", "arguments": arguments}))
        return records()[-1].arguments

    return call


def test_arguments_are_logged_without_secrets_if_the_setting_is_on(logged, configure):
    assert logged({"title": "x"}) is None
    configure(LOG_ARGUMENTS=True)
    assert [logged(arguments) for arguments, _ in LOGGED] == [expected for _, expected in LOGGED]


def test_grouped_arguments_are_masked(logged, configure):
    """So are names that a group does not have."""
    configure(LOG_ARGUMENTS=True, ARGUMENTS="grouped")
    card = {"title": "A walk", "note": "between us"}
    assert logged({"body": card}) == {"body": {"title": "A walk", "note": MASK}}
    card = {"title": "A walk", "noet": "between us"}
    found = logged({"body": card, "kwarg": {"pk": 1}})
    assert found == {"body": {"title": "A walk", "noet": MASK}, "kwarg": MASK}


def test_the_length_of_unknown_arguments_is_limited():
    shortened = shorten_value({f"{number:03}" + "n" * 200: number for number in range(90)})
    assert shortened["…"] == "40 more"
    assert len(json.dumps(shortened)) < 10_000


@pytest.mark.slow
@given(JSON)
def test_any_arguments_can_be_logged(arguments):
    json.dumps(registry.tool("orders_create").sanitize_arguments(arguments))
