"""Reads of resources are logged, traced, signalled and audited."""

from __future__ import annotations

import logging

import pytest
from django.apps import apps

from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.signals import tool_called

URI = "shop://api/products/cast-iron-pan"


@pytest.fixture
def audited(monkeypatch):
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())
    return AuditedCall.objects.get


def test_a_read_is_one_log_record(alice, caplog):
    caplog.set_level(logging.INFO, logger="drf_mcp.calls")
    alice.result("resources/read", uri=URI)
    [record] = [each for each in caplog.records if each.name == "drf_mcp.calls"]
    assert (record.tool, record.method) == ("products_retrieve", "resources/read")
    assert (record.outcome, record.status) == ("success", 200)


def test_a_read_sends_the_signal_of_its_tool(alice):
    received = []

    def receive(sender, tool, outcome, **details):
        received.append((tool.name, outcome.status))

    tool_called.connect(receive)
    try:
        alice.result("resources/read", uri=URI)
    finally:
        tool_called.disconnect(receive)
    assert received == [("products_retrieve", 200)]


def test_a_read_is_audited_with_its_uri(audited, alice):
    alice.result("resources/read", uri=URI)
    row = audited()
    assert (row.method, row.tool, row.verdict) == ("resources/read", "products_retrieve", "success")
    assert row.arguments == f'{{"uri": "{URI}"}}'
    assert row.user_label == "alice"


def test_a_read_that_is_refused_is_audited(audited, agent_of):
    agent_of("bob").error("resources/read", uri="shop://api/customers/1")
    row = audited()
    assert (row.tool, row.verdict, row.status) == ("customers_retrieve", "failed", 404)
