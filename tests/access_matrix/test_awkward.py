"""Awkward views for every credential by every door, with the data compared."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.access_matrix.awkward import AwkwardMatrix, served
from tests.agents import Agent

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def matrix(shared_db) -> Iterator[AwkwardMatrix]:
    with served():
        yield AwkwardMatrix(in_pairs=True).fill()


# A thousand calls by seven doors.
slow = pytest.mark.slow


@slow
def test_no_door_gives_another_answer_than_http(matrix):
    others = (" by further: ", " by arguments: ")
    faults = [fault for fault in matrix.faults if not any(each in fault for each in others)]
    assert not faults, "\n".join(faults)


@slow
def test_prompts_completion_and_previews_name_and_count_no_row_that_http_hides(matrix):
    faults = [fault for fault in matrix.faults if " by further: " in fault]
    assert not faults, "\n".join(faults)


@slow
def test_who_may_not_call_a_tool_learns_no_argument_of_it(matrix):
    faults = [fault for fault in matrix.faults if " by arguments: " in fault]
    assert not faults, "\n".join(faults)
    assert matrix.table["arguments", "plain"]["="] > 5


@slow
def test_every_door_was_tried_and_let_somebody_in(matrix):
    """Each is open to a user, and shut to whom the endpoint does not know."""
    doors = {door for door, _ in matrix.table} - {"arguments"}
    assert len(doors) == 8
    assert all(matrix.table[door, "owner"]["="] for door in doors)
    for name in ("anonymous", "bad token"):
        assert not [door for door in doors if matrix.table.get((door, name), {}).get("=")]


@pytest.mark.slow
def test_the_page_offers_what_the_list_offers(settings):
    settings.DEBUG = True
    closing = set()
    with served():
        settings.DRF_MCP = {**settings.DRF_MCP, "BROWSABLE_PAGE": True}
        for username in ("alice", "bob", "carol", "admin"):
            client = Client()
            client.force_login(User.objects.get(username=username))
            listed = set(Agent(client).tools())
            page = client.get("/mcp", headers={"accept": "text/html"}).content.decode()
            assert set(re.findall(r"\?tool=(\w+)", page)) == listed, username
            closing |= {username} if "notes_close" in listed else set()
    assert closing == {"carol", "admin"}
