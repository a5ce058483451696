"""New agent tokens, and agents that send them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from drf_mcp.contrib.tokens.models import AgentToken
from tests.agents import Agent


def issue_token(user: User, **options: Any) -> tuple[AgentToken, str]:
    """Make an agent token of a user, and return the token and its key."""
    token = AgentToken(**{"user": user, "name": "desk", **options})
    key = token.issue()
    token.save()
    return token, key


def make_client(key: str, **options: Any) -> Client:
    """Return a client that sends a key."""
    return Client(headers={"authorization": f"Bearer {key}"}, **options)


def make_holder(user: User, **options: Any) -> Agent:
    """Return an agent with a new agent token of a user."""
    return Agent(make_client(issue_token(user, **options)[1]))
