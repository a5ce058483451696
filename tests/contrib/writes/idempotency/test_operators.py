"""The check of tools with keys, and the assertion that projects use."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.core.checks import run_checks
from django.db import transaction
from django.urls import path
from django.utils.decorators import method_decorator

from drf_mcp import mcp_tool
from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.test import MCPClient, assert_idempotent
from drf_mcp.views import MCPView
from tests.contrib.writes.idempotency import views

pytestmark = pytest.mark.django_db


class GroupsElsewhere:
    """Routes writes of groups to another database."""

    def db_for_write(self, model, **hints) -> str | None:
        return "elsewhere" if model is Group else None


class Elsewhere(views.PlainPayments):
    queryset = Group.objects.all()


@method_decorator(transaction.non_atomic_requests, name="dispatch")
class Outside(views.PlainPayments):
    """Runs outside transactions."""


def find_errors() -> list[str]:
    return [m.msg for m in run_checks(tags=["drf_mcp"]) if m.id == "drf_mcp.E014"]


def test_a_tool_whose_key_could_be_lost_is_an_error(serve, settings):
    """A view outside transactions, and a view that writes to another database."""
    serve()
    assert find_errors() == []
    serve(path("outside/", mcp_tool(name="pay_outside", idempotency_key=True)(Outside).as_view()))
    (error,) = find_errors()
    assert "pay_outside takes an idempotency_key" in error
    assert "non_atomic_requests" in error
    own = MCPView.as_view(tool_options={"idempotency_key": True})
    late = mcp_tool(name="pay_late")(type("Late", (Outside,), {}))
    serve(path("late/", late.as_view()), path("own/mcp", own))
    (error,) = find_errors()
    assert "pay_late" in error
    settings.DATABASE_ROUTERS = [GroupsElsewhere()]
    serve(path("far/", mcp_tool(name="pay_far", idempotency_key=True)(Elsewhere).as_view()))
    (error,) = find_errors()
    assert "writes to 'elsewhere', while records are in 'default'" in error


def client() -> MCPClient:
    client = MCPClient()
    client.force_authenticate(User.objects.get(username="alice"))
    return client


def test_an_idempotent_tool_passes_and_leaves_nothing(payer):
    """Without arguments, the assertion makes some."""
    for tool in ("pay_by_key", "pay_by_header", "receipt"):
        assert_idempotent(client(), tool, {"name": "rent"})
    assert_idempotent(client(), "pay_by_key")
    assert not Group.objects.filter(name__startswith="rent").exists()
    assert not IdempotencyRecord.objects.exists()


def forget(get_response):
    """Middleware that loses the records."""

    def middleware(request):
        IdempotencyRecord.objects.all().delete()
        return get_response(request)

    return middleware


def note(get_response):
    """Middleware that writes a row for each message."""

    def middleware(request):
        Group.objects.create(name=f"message {Group.objects.count()}")
        return get_response(request)

    return middleware
