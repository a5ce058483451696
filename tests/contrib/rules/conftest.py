from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps

from drf_mcp.contrib.rules import ruling
from drf_mcp.contrib.rules.apps import RulesConfig
from drf_mcp.contrib.rules.models import CallRule
from drf_mcp.option_types.installed import features
from drf_mcp.tools import registry


@pytest.fixture(autouse=True)
def ask_rules(monkeypatch) -> Iterator[None]:
    """Have the rules decide about the calls of the test; none of Python is left from another."""
    config = apps.get_app_config("drf_mcp_rules")
    monkeypatch.setattr(config, "mcp_features", RulesConfig.mcp_features)
    monkeypatch.setattr(ruling, "RULES", [])
    features.forget()
    registry.reload()
    yield
    monkeypatch.undo()
    features.forget()
    registry.reload()


@pytest.fixture
def keep_rule(db) -> Callable[..., CallRule]:
    """Save a rule of the table, as the admin does."""

    def keep(tools: str, verdict: str = "refuse", **members: Any) -> CallRule:
        members = {"name": f"rule {CallRule.objects.count()}", "reason": "Not today.", **members}
        row = CallRule(tools=tools, verdict=verdict, **members)
        row.full_clean()
        row.save()
        return row

    return keep
