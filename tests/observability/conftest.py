"""An agent at an endpoint with the views of this folder, and the log records of its calls."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import path

from tests.agents import Agent
from tests.observability import views


@pytest.fixture
def agent(expose, db) -> Agent:
    expose_views(expose)
    return Agent(Client(raise_request_exception=False))


def expose_views(expose, **mcp_settings) -> None:
    classes = (views.Cards, views.Crashes, views.Declines, views.Unwritable, views.Queries)
    patterns = [path(f"{view.__name__.lower()}/", view.as_view()) for view in classes]
    expose(*patterns, **mcp_settings)


@pytest.fixture
def configure(expose) -> Callable[..., None]:
    return lambda **mcp_settings: expose_views(expose, **mcp_settings)


@pytest.fixture
def records(caplog) -> Callable[[], list[Any]]:
    """Return the records of the calls so far."""
    caplog.set_level(logging.INFO, logger="drf_mcp.calls")
    return lambda: [record for record in caplog.records if record.name == "drf_mcp.calls"]


@pytest.fixture
def record(records) -> Callable[[], Any]:
    def only() -> Any:
        (found,) = records()
        return found

    return only
