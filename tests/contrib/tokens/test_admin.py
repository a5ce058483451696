"""Operators make, find and revoke tokens in the admin site."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from drf_mcp.contrib.tokens.models import AgentToken

LIST = "/admin/drf_mcp_tokens/agenttoken/"


@pytest.fixture
def operator(db) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="admin"))
    return client


@pytest.fixture
def clerk(db) -> Client:
    """The browser of a staff user with every permission for tokens, who is no superuser."""
    user = User.objects.create_user("clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="drf_mcp_tokens"))
    client = Client()
    client.force_login(user)
    return client


def add(client: Client, username: str = "alice", **fields: str):
    user = User.objects.get(username=username)
    return client.post(f"{LIST}add/", {"user": user.pk, "name": "desk", **fields})


def key_in(response) -> str:
    return re.search(r"mcp_[a-z0-9]{8}_[A-Za-z0-9]{43}", response.content.decode())[0]


def test_the_key_is_shown_when_the_token_is_made(operator, holder):
    response = add(operator, tools="orders_*\ntag:retrieval", read_only="on")
    key = key_in(response)
    assert "no-store" in response["Cache-Control"]
    token = AgentToken.objects.get()
    assert (token.user.username, token.tools) == ("alice", ["orders_*", "tag:retrieval"])
    assert token.read_only
    assert "orders_list" in holder(key).tools()


@pytest.mark.slow
def test_the_key_is_shown_nowhere_else(operator):
    key = key_in(add(operator))
    token = AgentToken.objects.get()
    pages = [LIST, f"{LIST}{token.pk}/change/", f"{LIST}{token.pk}/history/", "/admin/"]
    answers = [operator.get(page) for page in pages]
    answers.append(operator.post(f"{LIST}{token.pk}/change/", {"name": "other"}, follow=True))
    texts = [answer.content.decode() for answer in answers]
    assert f"mcp_{token.prefix}" in texts[0]
    assert not [text for text in texts if key.rpartition("_")[2] in text or token.digest in text]


def test_the_key_is_not_left_in_the_session_or_a_cookie(operator):
    key = key_in(add(operator))
    kept = [*map(str, operator.session.values()), *(c.value for c in operator.cookies.values())]
    assert not [value for value in kept if key.rpartition("_")[2] in value]


def test_changing_a_token_keeps_its_key_and_user(operator, issue):
    token, _ = issue()
    before = (token.prefix, token.digest, token.user)
    operator.post(f"{LIST}{token.pk}/change/", {"name": "other", "tools": "orders_*", "user": "1"})
    token.refresh_from_db()
    assert (token.name, token.tools) == ("other", ["orders_*"])
    assert (token.prefix, token.digest, token.user) == before


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("tools", "FETCH *", "FETCH is no HTTP method"),
        ("networks", "10.0.0.1/8", "the network is 10.0.0.0/8."),
        ("networks", "shop.example", "is no network such as"),
        ("expires_0", "2020-01-01", "in the past"),
    ],
)
def test_an_invalid_value_is_refused_at_its_field(operator, field, value, words):
    response = add(operator, **{field: value, "expires_1": "10:00"})
    assert words in str(response.context["adminform"].form.errors)
    assert not AgentToken.objects.exists()


@pytest.mark.slow
def test_the_action_revokes(operator, issue, holder):
    tokens = [issue(name=name) for name in ("one", "two")]
    holder(tokens[0][1]).tools()
    chosen = {"action": "revoke", "_selected_action": [token.pk for token, _ in tokens]}
    response = operator.post(LIST, chosen, follow=True)
    assert "2 tokens were revoked." in response.content.decode()
    assert not AgentToken.objects.in_state("open").exists()
    agent = holder(tokens[0][1])
    assert agent.post(*agent.frame("tools/list", {})).status_code == 401


def test_only_a_superuser_makes_tokens_for_a_superuser(clerk):
    response = add(clerk, "admin")
    assert "Only a superuser" in str(response.context["adminform"].form.errors)
    assert add(clerk, "alice").status_code == 200
    assert [token.user.username for token in AgentToken.objects.all()] == ["alice"]


def test_only_a_superuser_widens_the_token_of_a_superuser(clerk, operator, issue):
    token, _ = issue("admin", tools=["stats"])
    change = {"name": "wide", "tools": ""}
    address = f"{LIST}{token.pk}/change/"
    assert clerk.post(address, change).status_code == 403
    token.refresh_from_db()
    assert token.tools == ["stats"]
    operator.post(address, change)
    token.refresh_from_db()
    assert token.tools == []


def test_staff_may_revoke_the_tokens_of_superusers(clerk, issue):
    token, _ = issue("admin")
    clerk.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.state == "revoked"


@pytest.mark.slow
def test_staff_who_may_only_view_tokens_make_and_revoke_none(clerk, issue):
    user = User.objects.get(username="clerk")
    user.user_permissions.set(Permission.objects.filter(codename="view_agenttoken"))
    token, _ = issue()
    assert add(clerk).status_code == 403
    clerk.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.state == "open"
