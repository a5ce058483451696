"""Programs that call ``lists_aggregate``."""

from __future__ import annotations

import pytest

from example_project.shop.models import Customer

pytestmark = pytest.mark.django_db
FIGURES = 'lists_aggregate(tool="customers_list", group_by=["tier"])'


@pytest.fixture(autouse=True)
def undeclared(configure):
    configure(AGGREGATES="auto")


def test_a_program_gets_the_figures_of_a_list(composer, calls):
    own = Customer.objects.filter(owner__username="alice")
    value = composer.value(FIGURES)
    assert value["total"]["count"] == own.count()
    assert {group["tier"]: group["count"] for group in value["groups"]} == {
        tier: own.filter(tier=tier).count() for tier in own.values_list("tier", flat=True)
    }
    assert calls == ["customers_list", "tools_compose"]


def test_signatures_include_lists_aggregate(composer):
    assert composer.value("signatures('lists_*')").startswith("lists_aggregate(tool: str")


def test_an_unknown_list_is_refused(composer):
    program = """
try:
    lists_aggregate(tool="users_list")
except ToolError as error:
    text = str(error)
text
"""
    assert composer.value(program).startswith("VALIDATION_ERROR /tool: No list has this name")


def test_a_resumed_program_keeps_its_figures(staff, configure, calls):
    configure(CONFIRM=True)
    pk = Customer.objects.exclude(orders__isnull=False).first().pk
    stopped = staff.run(f"before = {FIGURES}\ncustomers_destroy(id={pk})\nbefore['total']['count']")
    before = Customer.objects.count()
    calls.clear()
    resumed = staff.resume(stopped)
    assert resumed.data["result"] == before
    assert "customers_list" not in calls
