"""The library: its endpoint, its HTTP API, and an empty cache of answers."""

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
    """Use the seeded library in every test."""


@pytest.fixture
def http(http_of) -> APIClient:
    """A client of plain HTTP, as alice."""
    return http_of("alice")


@pytest.fixture
def reader(db) -> Agent:
    """An agent of alice at the library's own endpoint."""
    token = Token.objects.get(user__username="alice")
    return Agent(Client(headers={"authorization": f"Token {token.key}"}), path="/library/mcp")
