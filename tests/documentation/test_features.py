"""The features on the page about features work as the page says."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from django.apps import apps

from drf_mcp.exposure import registry
from drf_mcp.option_types.installed import features
from tests.documentation.pages import DOCS, blocks

SATURDAY, MONDAY = datetime.date(2026, 11, 28), datetime.date(2026, 11, 30)


@pytest.fixture
def install(monkeypatch) -> Iterator[Callable[[str, str], ModuleType]]:
    """Install a feature of the page, and return its module."""

    def install(file: str, name: str) -> ModuleType:
        text = "".join(block.text for block in blocks(DOCS / "features.md") if block.file == file)
        module = ModuleType(file.removesuffix(".py").replace("/", "."))
        exec(compile(text, file, "exec"), vars(module))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        config = apps.get_app_config("shop")
        monkeypatch.setattr(config, "mcp_features", [f"{module.__name__}.{name}"], raising=False)
        features.forget()
        registry.reload()
        return module

    yield install
    monkeypatch.undo()
    features.forget()
    registry.reload()


def test_a_guard_refuses_changes_on_days_off(install, carol, monkeypatch):
    module = install("weekends/features.py", "WeekendsFeature")
    monkeypatch.setattr(module.timezone, "localdate", lambda: SATURDAY)
    refused = carol.call("orders_create")
    assert (refused.code, "Monday" in refused.envelope["error"]) == ("FORBIDDEN", True)
    assert not carol.call("products_list").is_error
    monkeypatch.setattr(module.timezone, "localdate", lambda: MONDAY)
    assert carol.call("orders_create").code == "MISSING_REQUIRED"


def test_an_outer_guard_counts_refused_calls_as_well(install, carol):
    install("tenant_calls/features.py", "TenantCallsFeature")
    assert carol.call("products_list").envelope["meta"]["calls"] == 1
    assert carol.call("orders_create").envelope["meta"]["calls"] == 2


def test_a_source_orders_the_list(install, carol):
    install("reading/features.py", "ReadingFeature")
    reads = [tool["annotations"]["readOnlyHint"] for tool in carol.tools().values()]
    assert reads == sorted(reads, reverse=True)
    assert {True, False} <= set(reads)
