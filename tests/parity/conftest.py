"""Callers of the shop, and a frozen clock."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from example_project.library.indexes import current_index
from example_project.shop.models import Order, Ticket

NOW = datetime(2026, 11, 2, 12, 30, 15, tzinfo=UTC)


@pytest.fixture
def open_endpoint(settings) -> None:
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        # All methods are compared.
        "INCLUDE": ["PUT *"],
    }


@pytest.fixture
def stopped_clock(monkeypatch) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    monkeypatch.setattr(Order._meta.get_field("placed_at"), "_get_default", lambda: NOW)
    monkeypatch.setattr(Ticket._meta.get_field("created"), "_get_default", lambda: NOW)
    monkeypatch.setattr("uuid.uuid4", lambda: uuid.UUID(int=7))


@pytest.fixture
def built_index(db) -> None:
    """Build the library's index, which the first query would otherwise do."""
    current_index()
