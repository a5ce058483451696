"""Agent tokens, and agents that send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from drf_mcp.contrib.tokens.models import AgentToken
from tests.agents import Agent
from tests.contrib.tokens.holders import issue_token, make_client


@pytest.fixture
def issue(db) -> Callable[..., tuple[AgentToken, str]]:
    """Make a token, and return the token and its key: ``issue("alice", read_only=True)``."""

    def make(username: str = "alice", **options: Any) -> tuple[AgentToken, str]:
        return issue_token(User.objects.get(username=username), **options)

    return make


@pytest.fixture
def holder() -> Callable[..., Agent]:
    """Return an agent that sends a key: ``holder(key)``."""

    def make(key: str, revision: str = "2026-07-28", **options: Any) -> Agent:
        return Agent(make_client(key, **options), revision=revision)

    return make


@pytest.fixture
def holder_of(issue, holder) -> Callable[..., Agent]:
    """Return an agent with a new token: ``holder_of("alice", read_only=True)``."""

    def make(username: str = "alice", revision: str = "2026-07-28", **options: Any) -> Agent:
        return holder(issue(username, **options)[1], revision=revision)

    return make
