"""Plain HTTP clients of the shop's users."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient


@pytest.fixture(autouse=True)
def shop(db) -> None:
    """The shop with its rows."""


@pytest.fixture
def alice(http_of) -> APIClient:
    """Alice, who owns 30 customers."""
    return http_of("alice")


@pytest.fixture
def bob(http_of) -> APIClient:
    """Bob, who owns other customers."""
    return http_of("bob")


@pytest.fixture
def carol(http_of) -> APIClient:
    """Carol, who is staff."""
    return http_of("carol")
