"""The library: its endpoint, its HTTP API, and a clean shelf of stored answers."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from tests.agents import Agent

RETRIEVERS = [
    "naive_retriever",
    "bm25_retriever",
    "contextual_compression_retriever",
    "multi_query_retriever",
    "ensemble_retriever",
    "semantic_retriever",
]
REPORTS = ["health_check_health_get", "cache_stats_cache_stats_get"]


@pytest.fixture(autouse=True)
def library(db) -> None:
    """The seeded library."""


@pytest.fixture
def http(http_of) -> APIClient:
    """Plain HTTP, as alice."""
    return http_of("alice")


@pytest.fixture
def reader(db) -> Agent:
    """An agent of alice's at the library's own endpoint."""
    token = Token.objects.get(user__username="alice")
    return Agent(Client(headers={"authorization": f"Token {token.key}"}), path="/library/mcp")
