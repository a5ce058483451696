"""The home of the page shows the calls of agents to people who may view the audit."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

TOOL = "make_group"


@pytest.fixture
def home(configure, agent_of):
    """Make calls as alice, and return the home of a user as text."""
    configure(BROWSABLE_PAGE=True)
    agent = agent_of("alice")

    def show(username: str, *calls: dict) -> str:
        for arguments in calls:
            agent.call(TOOL, **arguments)
        browser = Client(headers={"accept": "text/html"})
        browser.force_login(User.objects.get(username=username))
        return browser.get("/mcp").content.decode()

    return show


def read_section(page: str, name: str) -> str:
    section = re.split("</(?:section|details)>", page.partition(f'id="{name}-title"')[2])[0]
    return " ".join(re.sub(r"<[^>]+>", " ", section).split())


def test_failures_are_counted_by_tool_argument_and_sentence(home):
    page = home("admin", {"name": "missing"}, {"pin": "1"}, {"pin": "2"}, {"name": "a"})
    failures = read_section(page, "failures")
    assert f"{TOOL} /name This field is required. 2\N{MULTIPLICATION SIGN}" in failures
    assert f"{TOOL} Not found. 1\N{MULTIPLICATION SIGN}" in failures


def test_a_failure_reopens_its_call_without_values_that_are_masked_or_cut(home):
    page = home("admin", {"name": "missing", "pin": "1234"}, {"name": "n" * 700})
    calls = re.findall(r'href="/mcp\?tool=make_group#call=([^"]+)"', page)
    assert {unquote(each) for each in calls} == {'{"name": "missing"}', "{}"}


def test_the_home_names_tools_that_nobody_called_and_the_sizes_of_results(home):
    assert f"1 tool {TOOL}" not in read_section(home("admin", {"name": "a"}), "uncalled")
    assert "slow" in read_section(home("admin"), "uncalled")
    page = home("admin")
    assert re.search(rf"{TOOL} \d+ · \d+", read_section(page, "sizes"))
    assert f'<li><a href="/mcp?tool={TOOL}">{TOOL}</a> <span>' in page


def test_calls_are_shown_by_the_permission_to_view_the_audit(home):
    assert "Last calls" not in home("alice", {"name": "a"})
    permission = Permission.objects.get(codename="view_auditedcall")
    User.objects.get(username="alice").user_permissions.add(permission)
    assert f"{TOOL} success alice" in read_section(home("alice"), "calls")
    # The admin site lets staff in.
    assert "All calls" not in home("alice")
    assert "All calls" in home("admin")
