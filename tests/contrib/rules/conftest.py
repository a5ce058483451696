from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps

from drf_mcp.contrib.rules import ruling
from drf_mcp.contrib.rules.apps import RulesConfig
from drf_mcp.contrib.rules.models import CallRule
from drf_mcp.exposure import registry
from drf_mcp.option_types.installed import features
from example_project.shop.models import Order


@pytest.fixture(autouse=True)
def switch_rules_on(monkeypatch) -> Iterator[None]:
    """Switch the feature on for the test, without the rules in Python of other tests."""
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
def save_rule(db) -> Callable[..., CallRule]:
    """Validate and save a rule, as the admin does."""

    def save(tool: str, effect: str = "refuse", when: Any = (), **members: Any) -> CallRule:
        members |= dict(zip(("argument", "operator", "value"), when, strict=False))
        members = {"name": f"rule {CallRule.objects.count()}", "reason": "Not today.", **members}
        row = CallRule(tool=tool, effect=effect, **members)
        row.full_clean()
        row.save()
        return row

    return save


@pytest.fixture
def order(db) -> Order:
    """A paid order of alice, which can be refunded."""
    return Order.objects.filter(customer__owner__username="alice", status="paid")[0]
