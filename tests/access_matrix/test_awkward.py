"""Awkward views for every credential and door, compared with HTTP."""

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


# A thousand calls through seven doors.
slow = pytest.mark.slow


@slow
def test_every_door_answers_as_http_does(matrix):
    others = (" by further: ", " by arguments: ")
    faults = [fault for fault in matrix.faults if not any(each in fault for each in others)]
    assert not faults, "\n".join(faults)


@slow
def test_prompts_completion_and_previews_show_and_count_only_rows_that_http_shows(matrix):
    faults = [fault for fault in matrix.faults if " by further: " in fault]
    assert not faults, "\n".join(faults)


@slow
def test_a_caller_without_permission_learns_no_argument_of_a_tool(matrix):
    faults = [fault for fault in matrix.faults if " by arguments: " in fault]
    assert not faults, "\n".join(faults)
    assert matrix.table["arguments", "plain"]["="] > 5


@slow
def test_every_door_accepts_users_and_refuses_unknown_callers(matrix):
    doors = {door for door, _ in matrix.table} - {"arguments"}
    assert len(doors) == 7
    assert all(matrix.table[door, "owner"]["="] for door in doors)
    for name in ("anonymous", "bad token"):
        assert not [door for door in doors if matrix.table.get((door, name), {}).get("=")]


@pytest.mark.slow
def test_the_page_shows_the_tools_of_the_list(settings):
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
