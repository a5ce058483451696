"""The argument ``dry_run``, its report in each envelope, and its records."""

from __future__ import annotations

import json

from django.apps import apps
from django.contrib.auth.models import Group

from drf_mcp import call_context
from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall

ARGUMENT = {"type": "boolean"}
NOTE = "Dry run: nothing was changed."


def properties(agent, tool):
    return agent.tools()[tool]["inputSchema"]["properties"]


def test_writing_tools_have_the_argument_and_reading_tools_do_not(agent):
    offering = {name for name in agent.tools() if "dry_run" in properties(agent, name)}
    assert properties(agent, "groups_create")["dry_run"] == ARGUMENT
    assert offering == {
        *(f"groups_{name}" for name in ("create", "update", "partial_update", "destroy", "shout")),
        *(
            f"throttled_{name}"
            for name in ("create", "update", "partial_update", "destroy", "shout")
        ),
        *("deed", "asynchronous", "unbound", "wrapped"),
    }


def test_a_tool_has_no_dry_run_unless_it_is_switched_on(agent):
    assert agent.call("final", dry_run=True).problems[0]["pointer"] == "/dry_run"
    assert not Group.objects.exists()
    assert agent.call("final").data == {"dry_run": False}


def test_each_envelope_has_the_report(configure):
    """The plain envelope has it in a second block."""

    def answer(name: str, sent: str = "a"):
        agent = configure(ENVELOPE_CLASS=f"drf_mcp.envelopes.{name}Envelope")
        return agent.call("groups_create", name=sent, dry_run=True)

    report = {"note": NOTE}
    envelope = answer("Ok").envelope
    assert (envelope["ok"], envelope["meta"]["dry_run"]) == (True, report)
    envelope = answer("Status").envelope
    assert (envelope["status"], envelope["metadata"]["dry_run"]) == ("success", report)
    for sent in ("a", ""):
        first, second = answer("Plain", sent).raw["content"]
        assert json.loads(second["text"])["dry_run"]["note"] == NOTE
        assert "dry_run" not in first["text"]


def test_an_answer_that_cannot_be_encoded_says_that_nothing_was_changed(agent, do):
    do(lambda request: {"rate": float("nan")})
    tried = agent.call("deed", dry_run=True)
    assert tried.envelope["meta"]["dry_run"] == {"note": NOTE}
    assert "have taken effect" not in tried.data["remediation"]
    assert "have taken effect" in agent.call("deed").data["remediation"]


def test_the_audit_records_a_dry_run(configure, do, monkeypatch):
    """The record counts no changed rows."""
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())
    do(lambda request: call_context(request).rows_changed(3))
    for strict in (True, False):
        agent = configure(AUDIT_STRICT=strict)
        agent.call("deed", dry_run=True)
        row = AuditedCall.objects.get()
        assert (row.tool, row.verdict, row.is_trial) == ("deed", "success", True)
        assert row.rows_changed is None
        row.delete()
