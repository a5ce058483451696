"""Writes to views with ETags, which the view itself compares."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group


@pytest.fixture
def group(db) -> Group:
    return Group.objects.create(name="red")


def test_a_read_returns_the_etag_and_a_write_sends_it(agent_at, group):
    agent = agent_at()
    etag = agent.call("tagged_retrieve", pk=group.pk).envelope["meta"]["if_match"]
    assert etag == '"red"'
    result = agent.call("tagged_partial_update", pk=group.pk, name="green", if_match=etag)
    assert result.data["name"] == "green"


def test_quotes_that_a_model_leaves_out_are_added(agent_at, group):
    sent = {"name": "green", "if_match": "red"}
    assert not agent_at().call("tagged_partial_update", pk=group.pk, **sent).is_error


def test_a_refusal_of_the_view_shows_the_present_object(agent_at, group):
    sent = {"name": "green", "if_match": '"blue"'}
    result = agent_at().call("tagged_partial_update", pk=group.pk, **sent)
    group.refresh_from_db()
    assert (result.code, group.name) == ("CONFLICT", "red")
    meta = result.envelope["meta"]
    assert (meta["current"], meta["if_match"]) == ({"id": group.pk, "name": "red"}, '"red"')
