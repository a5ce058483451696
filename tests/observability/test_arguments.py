"""Arguments in the log: only where asked for, never a secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.tools import registry
from drf_mcp.tools.arguments.masking import MASK, shorten_value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.fixture
def logged(agent, configure, record):
    """Call a tool and return the arguments that the log has."""
    configure(LOG_ARGUMENTS=True)

    def call(arguments, tool="cards"):
        agent.post(*agent.frame("tools/call", {"name": tool, "arguments": arguments}))
        return record().arguments

    return call


def test_arguments_are_not_logged_unless_asked_for(agent, record):
    agent.call("cards", title="x")
    assert record().arguments is None


def test_arguments_are_logged_where_asked_for(logged):
    assert logged({"title": "A walk"}) == {"title": "A walk"}


def test_a_write_only_value_is_masked(logged):
    assert logged({"note": "between us"}) == {"note": MASK}


def test_what_sounds_like_a_secret_is_masked(logged):
    assert logged({"password": "hunter2", "details": {"api_key": "k", "size": 3}}) == {
        "password": MASK,
        "details": {"api_key": MASK, "size": 3},
    }


def test_a_secret_in_json_sent_as_a_string_is_masked(logged):
    told = logged({"details": json.dumps([{"token": "t", "size": 3}])})
    assert told == {"details": [{"token": MASK, "size": 3}]}


def test_refused_arguments_are_masked_as_well(logged):
    assert logged({"pasword": "hunter2", "secret": "s", "note": "n"}) == {
        "pasword": "hunter2",
        "secret": MASK,
        "note": MASK,
    }


def test_grouped_arguments_are_masked(agent, configure, record):
    configure(LOG_ARGUMENTS=True, ARGUMENTS="grouped")
    agent.call("cards", body={"title": "A walk", "note": "between us"})
    assert record().arguments == {"body": {"title": "A walk", "note": MASK}}


@pytest.mark.parametrize("arguments", ["password=hunter2", ["hunter2"], 7])
def test_what_is_no_object_is_masked_whole(logged, arguments):
    assert logged(arguments) == MASK


def test_missing_arguments_are_logged_as_none(logged):
    assert logged(None) is None


def test_long_texts_and_lists_are_cut(logged):
    told = logged({"title": "x" * 600, "details": list(range(30))})
    assert told["title"] == "x" * 500 + "… (600 characters)"
    assert told["details"] == [*range(20), "… (10 more)"]


def test_arguments_nobody_knows_do_not_fill_the_log():
    told = shorten_value({f"{number:03}" + "n" * 200: number for number in range(90)})
    assert told["…"] == "40 more"
    assert len(json.dumps(told)) < 10_000


@given(JSON)
def test_any_arguments_can_be_logged(arguments):
    json.dumps(registry.tool("orders_create").sanitize_arguments(arguments))
