"""Why agents make calls, and what they look for in vain."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.urls import path, reverse
from rest_framework.decorators import api_view
from rest_framework.response import Response

from drf_mcp import mcp_tool
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.views import MCPView

TOKENS = ["rest_framework.authentication.TokenAuthentication"]
WHY = "The customer asked for a group."


@mcp_tool(body={"intent": {"type": "string"}, "note": {"type": "string"}})
@api_view(["POST"])
def plan(request):
    return Response({"data": request.data, "query": request.query_params})


@pytest.fixture
def asking(expose, agent_of):
    """Serve a tool whose view has an intent of its own, at an endpoint with a search."""

    def serve(intent: str | None):
        endpoint = path("search", MCPView.as_view(tool_search=True, compose="writes"))
        patterns = [path("plan/", plan), path("admin/", admin.site.urls), endpoint]
        expose(*patterns, INTENT=intent, AUTHENTICATION_CLASSES=TOKENS)
        return agent_of("alice")

    return serve


def test_the_intent_is_recorded_and_no_view_gets_it(asking, row):
    agent = asking("optional")
    assert agent.call("plan", intent="x", intent_mcp=WHY).data == {
        "data": {"intent": "x"},
        "query": {},
    }
    assert (row().intent, json.loads(row().arguments)) == (WHY, {"intent": "x"})


def test_a_long_intent_is_cut(asking, row):
    asking("optional").call("plan", intent_mcp="why " * 1000)
    assert len(row().intent) <= 500
    assert row().intent.startswith("why why")


def test_the_values_of_masked_arguments_are_masked_in_the_intent(asking, row):
    sent = {"password": "hunter22", "codes": [{"token": 4711}], "note": "hunt"}
    why = "To log in with hunter22 and 4711, as the note says: hunt."
    asking("optional").call("plan", intent_mcp=why, **sent)
    masked = "To log in with ******** and ********, as the note says: hunt."
    assert row().intent == masked
    assert "hunter22" not in row().arguments


def test_a_short_secret_is_masked_in_the_intent_only_as_a_word(asking, row):
    asking("optional").call("plan", intent_mcp="Order 12 of 2, 2nd try.", password="2")
    assert row().intent == "Order 12 of ********, 2nd try."


def test_a_call_without_a_required_intent_is_refused(asking):
    agent = asking("required")
    assert "intent_mcp" in agent.tools()["plan"]["inputSchema"]["required"]
    refused = agent.call("plan", intent="x")
    assert refused.code == "MISSING_REQUIRED"
    assert refused.data["details"]["field"] == "intent_mcp"
    assert not agent.call("plan", intent="x", intent_mcp=WHY).is_error


def test_a_tool_without_the_argument_needs_no_intent(asking, agent_of):
    asking("required")
    composer = agent_of("alice", path="/search")
    assert "intent" not in composer.tools()["tools_compose"]["inputSchema"]["properties"]
    assert composer.call("tools_compose", program="1 + 1").data["result"] == 2


def test_no_tool_has_the_argument_by_default(asking):
    properties = asking(None).tools()["plan"]["inputSchema"]["properties"]
    assert "intent_mcp" not in properties


def test_tools_that_do_not_exist_and_searches_without_a_hit_are_counted(asking, agent_of, db):
    asking("optional").error("tools/call", name="refund_order", arguments={})
    for username in ("alice", "carol"):
        agent_of(username, path="/search").call("tools_search", query="Archive  the zebra")
    counted = AuditedCall.count_wanted(AuditedCall.objects.all()).order_by("wanted")
    found = [(row.wanted, row.times, row.users) for row in counted]
    assert found == [("archive the zebra", 2, 2), ("refund_order", 1, 1)]
    stdout = io.StringIO()
    call_command("mcp_audit", "--wanted", stdout=stdout)
    assert stdout.getvalue().split("\n")[0].split(maxsplit=1) == ["2", "archive the zebra"]


def test_a_search_with_a_hit_and_a_call_that_worked_want_nothing(asking, agent_of, db):
    asking(None).call("plan")
    agent_of("alice", path="/search").call("tools_search", query="plan")
    assert set(AuditedCall.objects.values_list("wanted", flat=True)) == {""}


def test_the_admin_site_shows_each_wanted_thing_once(asking, admin_client):
    agent = asking(None)
    for _time in range(3):
        agent.error("tools/call", name="refund_order", arguments={})
    page = admin_client.get(reverse("admin:drf_mcp_audit_wantedtool_changelist"))
    assert page.status_code == 200
    assert [row.times for row in page.context["cl"].result_list] == [3]
