"""Tokens for agents, and agents that hold them."""

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
    """``issue("alice", read_only=True)`` makes a token and returns it with its key."""

    def make(username: str = "alice", **options: Any) -> tuple[AgentToken, str]:
        user = User.objects.get(username=username)
        token = AgentToken(**{"user": user, "name": "desk", **options})
        key = token.issue()
        token.save()
        return token, key

    return make


@pytest.fixture
def holder() -> Callable[..., Agent]:
    """``holder(key)`` is an agent that sends a key."""

    def make(key: str, revision: str = "2026-07-28", **options: Any) -> Agent:
        client = Client(headers={"authorization": f"Bearer {key}"}, **options)
        return Agent(client, revision=revision)

    return make


@pytest.fixture
def holder_of(issue, holder) -> Callable[..., Agent]:
    """``holder_of("alice", read_only=True)`` is an agent with a token made for it."""

    def make(username: str = "alice", revision: str = "2026-07-28", **options: Any) -> Agent:
        return holder(issue(username, **options)[1], revision=revision)

    return make
