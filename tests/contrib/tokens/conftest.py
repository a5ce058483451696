"""Agent tokens, and agents that send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from drf_mcp.contrib.tokens.models import AgentToken
from tests.agents import Agent


@pytest.fixture
def issue(db) -> Callable[..., tuple[AgentToken, str]]:
    """Make a token, and return the token and its key: ``issue("alice", read_only=True)``."""

    def make(username: str = "alice", **options: Any) -> tuple[AgentToken, str]:
        user = User.objects.get(username=username)
        token = AgentToken(**{"user": user, "name": "desk", **options})
        key = token.issue()
        token.save()
        return token, key

    return make


@pytest.fixture
def holder() -> Callable[..., Agent]:
    """Return an agent that sends a key: ``holder(key)``."""

    def make(key: str, revision: str = "2026-07-28", **options: Any) -> Agent:
        client = Client(headers={"authorization": f"Bearer {key}"}, **options)
        return Agent(client, revision=revision)

    return make


@pytest.fixture
def holder_of(issue, holder) -> Callable[..., Agent]:
    """Return an agent with a new token: ``holder_of("alice", read_only=True)``."""

    def make(username: str = "alice", revision: str = "2026-07-28", **options: Any) -> Agent:
        return holder(issue(username, **options)[1], revision=revision)

    return make
