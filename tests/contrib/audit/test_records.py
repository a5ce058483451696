"""The record of a call, for each outcome and each transport."""

from __future__ import annotations

import json
import time

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.authtoken.models import Token

from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.contrib.audit.recording import Audit
from drf_mcp.exposure import registry
from drf_mcp.routes.options import ToolOptions
from drf_mcp.server import Server
from drf_mcp.test import MCPClient, assert_tool_parity
from drf_mcp.transports.in_process import InProcessClient, LocalEndpoint
from drf_mcp.transports.stdio import StdioConnection
from tests.contrib.audit import views

TOOL = "make_group"


def call_message(number: int, **arguments) -> dict:
    params = {"name": TOOL, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_a_successful_call(agent, row):
    result = agent.call(TOOL, name="a")
    found = row()
    alice = User.objects.get(username="alice")
    assert (found.user_pk, found.user_label) == (str(alice.pk), "alice")
    assert (found.credential, found.client_name) == ("TokenAuthentication", "tests")
    assert (found.client_version, found.endpoint, found.method) == ("1", "/mcp", "tools/call")
    assert (found.tool, found.verdict, found.code, found.status) == (TOOL, "success", "", 201)
    assert (found.rows_changed, json.loads(found.arguments)) == (1, {"name": "a"})
    assert found.request_id == result.envelope["meta"]["request_id"]
    assert found.duration_ms > 0


def test_a_recorded_call_has_parity_with_its_request(db):
    client = MCPClient()
    client.force_authenticate(User.objects.get(username="alice"))
    assert_tool_parity(client, "customers_list")


def test_a_tool_run_by_tools_write_is_recorded_with_its_arguments(agent, settings, row):
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOL_SEARCH": True}
    agent.call("tools_write", name=TOOL, arguments={"name": "a", "pin": "1234"})
    found = row()
    assert (found.tool, found.verdict, found.rows_changed) == (TOOL, "success", 1)
    assert json.loads(found.arguments) == {"name": "a", "pin": "********"}


def test_secrets_and_long_values_are_masked_and_cut(agent, row):
    agent.call(TOOL, name="n" * 700, pin="1234")
    kept = json.loads(row().arguments)
    assert kept["pin"] == "********"
    assert kept["name"].endswith("… (700 characters)")


def test_what_a_view_says_of_a_secret_is_masked(agent, row):
    agent.call(TOOL, name="a", pin=[1234])
    assert (row().argument, row().sentence) == ("/pin", "********")


@pytest.mark.parametrize("name", ["name", "unknown"])
def test_arguments_of_2_megabytes_are_recorded_in_a_moment(agent, row, name):
    """Also where the call is refused at once."""
    agent.call(TOOL, name="a")
    AuditedCall.objects.all().delete()
    sent = [[str(number), {"pin": "1234"}] for number in range(80_000)]
    audit, durations = Audit.keep_arguments, []

    def measure(self, *args):
        started = time.process_time()
        audit(self, *args)
        durations.append(time.process_time() - started)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Audit, "keep_arguments", measure)
        assert agent.call(TOOL, **{name: sent}).is_error
    assert max(durations) < 0.05
    assert "79980 more" in row().arguments or name == "unknown"
    assert "1234" not in row().arguments


@pytest.mark.parametrize(
    "sent",
    [
        {"Authorization": "Bearer s3cret"},
        {"proxy-authorization": "Basic s3cret", "X-Api-Key": "s3cret", "Cookie": "sid=s3cret"},
        {"auth": ["user", "s3cret"], "x-auth": "s3cret", "session_id": "s3cret"},
        [{"name": "Authorization", "value": "Token s3cret"}],
        [{"key": "X-API-Key", "value": "s3cret", "enabled": True}],
        [["Authorization", "Bearer s3cret"], ["Cookie", "s3cret"]],
        ["Authorization: Bearer s3cret", "Cookie: s3cret"],
        "Accept: */*\r\nAuthorization: Digest username=u, response=s3cret\r\nX-Api-Key: s3cret",
        json.dumps({"headers": {"authorization": "s3cret"}}),
        "curl -H 'Authorization: Bearer s3cret' https://shop.example",
    ],
)
def test_credentials_are_masked_wherever_they_stand(agent, row, sent):
    agent.call(TOOL, name={"to": "https://shop.example", "headers": sent})
    assert "shop.example" in row().arguments
    assert "s3cret" not in row().arguments


def test_a_confirmed_call_has_a_row_for_the_question_and_one_for_the_call(
    configure, agent_of, monkeypatch
):
    options = ToolOptions.of(confirm=True)
    monkeypatch.setattr(views.MakeGroup, "mcp_tool", options, raising=False)
    configure()
    agent = agent_of("alice")
    agent.call(TOOL, **agent.call(TOOL, name="a").data["next"])
    asked, made = AuditedCall.objects.order_by("pk")
    assert (asked.verdict, asked.code) == ("asked", "CONFIRMATION_REQUIRED")
    assert made.verdict == "success"
    assert json.loads(made.arguments) == {"name": "a", "confirmation": "********"}


@pytest.mark.parametrize(
    ("name", "verdict", "code", "status"),
    [
        ("missing", "failed", "NOT_FOUND", 404),
        ("declined", "soft_failure", "SOFT_FAILURE", 200),
        ("crash", "failed", "INTERNAL_ERROR", 500),
    ],
)
def test_a_call_that_fails_in_the_view(agent, row, name, verdict, code, status):
    agent.call(TOOL, name=name)
    found = row()
    assert (found.verdict, found.code, found.status) == (verdict, code, status)
    assert found.rows_changed is None
    assert found.user_label == "alice"


def test_other_methods_are_not_recorded(agent):
    agent.tools()
    agent.request("server/discover")
    assert not AuditedCall.objects.exists()


def test_a_caller_without_permission_is_denied(configure, agent_of, row):
    configure(PERMISSION_CLASSES=["rest_framework.permissions.IsAdminUser"])
    message, headers = agent_of("alice").frame("tools/list", {})
    assert agent_of("alice").post(message, headers).status_code == 403
    found = row()
    assert (found.verdict, found.code, found.method) == ("denied", "FORBIDDEN", "tools/list")
    assert found.user_label == "alice"


def test_the_recorded_credential_is_the_one_that_was_sent(configure, agent_of, row):
    names = ["SessionAuthentication", "TokenAuthentication"]
    configure(AUTHENTICATION_CLASSES=[f"rest_framework.authentication.{name}" for name in names])
    agent_of("alice").call(TOOL, name="a")
    assert row().credential == "TokenAuthentication"


def test_a_token_is_never_recorded(agent):
    key = Token.objects.get(user__username="alice").key
    agent.call(TOOL, name="a")
    agent.call(TOOL, name="crash")
    for found in AuditedCall.objects.values():
        assert key[:8] not in str(found)


def test_a_call_of_the_in_process_client(configure, row):
    configure()
    user = User.objects.get(username="alice")
    InProcessClient(user).send("tools/call", {"name": TOOL, "arguments": {"name": "a"}})
    assert (row().user_label, row().client_name, row().verdict) == ("alice", "drf_mcp", "success")


def test_a_call_over_stdio(configure, row):
    configure()
    user, lines = User.objects.get(username="alice"), []
    connection = StdioConnection(
        Server(registry), lambda: LocalEndpoint().make_caller(user), lines.append
    )
    work = connection.receive(json.dumps(call_message(1, name="a")).encode())
    connection.answer(work)
    assert lines
    assert (row().user_label, row().verdict) == ("alice", "success")


def test_a_record_that_cannot_be_written_is_logged_and_the_call_succeeds(
    agent, auditor, monkeypatch, caplog
):
    def fail(row):
        raise DatabaseError("full")

    monkeypatch.setattr(auditor, "save", fail)
    assert agent.call(TOOL, name="a").data == {"name": "a"}
    assert "The audit of a call could not be written" in caplog.text


def test_a_failing_get_user_leaves_the_user_out_of_the_row(
    agent, auditor, monkeypatch, caplog, row
):
    def fail(user):
        raise RuntimeError

    monkeypatch.setattr(auditor, "get_user", fail)
    agent.call(TOOL, name="a")
    assert (row().tool, row().user_pk) == (TOOL, "")
    assert "Part of an audit could not be written" in caplog.text


@pytest.mark.django_db
def test_a_row_is_kept_when_the_call_is_rolled_back(configure, agent_of, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    configure()
    agent_of("alice").call(TOOL, name="crash")
    assert not Group.objects.filter(name="crash").exists()
    assert AuditedCall.objects.get().code == "INTERNAL_ERROR"


texts = st.text(max_size=20) | st.sampled_from(["\x00", "\ud800", "\N{GRINNING FACE}" * 200])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.slow
@given(arguments=values | st.dictionaries(texts, values), name=texts, client=values)
def test_a_call_with_any_arguments_has_a_row(agent, arguments, name, client):
    AuditedCall.objects.all().delete()
    for tool in (TOOL, name):
        message, headers = agent.frame("tools/call", {"name": tool, "arguments": arguments})
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = {"name": client}
        headers.pop("Mcp-Name", None)
        caller = LocalEndpoint().make_caller(User.objects.get(username="alice"))
        body = json.dumps(message).encode()
        Server(registry).handle_body(body, None, caller)
    readable = "\\ud8" not in json.dumps(message) and "NaN" not in body.decode()
    readable = readable and "Infinity" not in body.decode()
    assert not readable or AuditedCall.objects.count() == 2
    for found in AuditedCall.objects.all():
        found.clean_fields(exclude=["status", "rows_changed", "duration_ms", "result_tokens"])
        json.dumps(found.as_data())
