"""The fixtures of the tests on pages: the example shop with its rows and users."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.management import call_command

from example_project.shop.models import Customer, Order


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock():
        call_command("seed", verbosity=0)
    call_command("mcp_tools", "lock")


@pytest.fixture(autouse=True)
def reset_throttles() -> None:
    cache.clear()


@pytest.fixture
def alice(db: None) -> Any:
    return get_user_model().objects.get(username="alice")


@pytest.fixture
def ada(db: None) -> Any:
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def paid_order(ada: Any) -> Order:
    customer = Customer.objects.create(name="Lamps", email="lamps@example.com", owner=ada)
    return Order.objects.create(customer=customer, status="paid")
