"""`mcp_rules test` without a tool: what rules would have done to the calls of the audit."""

from __future__ import annotations

import json
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.generics import CreateAPIView

from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall
from drf_mcp.contrib.rules import Ruling, rule
from drf_mcp.contrib.rules.models import Proposal

REFUND = {"id": 1, "reason": "late"}


class GateSerializer(serializers.Serializer):
    password = serializers.CharField(write_only=True)
    note = serializers.CharField(required=False)


class GateView(CreateAPIView):
    """Opens a gate."""

    serializer_class = GateSerializer


@pytest.fixture(autouse=True)
def audit(monkeypatch, db) -> None:
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", Auditor())


def keep(tool: str, arguments: Any, username: str = "alice", **members: Any) -> AuditedCall:
    user = User.objects.filter(username=username).first()
    members = {"verdict": "success", "request_id": f"req_{AuditedCall.objects.count()}", **members}
    return AuditedCall.objects.create(
        time=timezone.now(),
        method="tools/call",
        tool=tool,
        arguments=json.dumps(arguments, ensure_ascii=False),
        user_pk="" if user is None else user.pk,
        user_label=username,
        **members,
    )


def judge(capsys, *options: str) -> SimpleNamespace:
    call_command("mcp_rules", "test", "--json", *options)
    return SimpleNamespace(**json.loads(capsys.readouterr().out))


def find_counts(judged: SimpleNamespace) -> list[tuple[Any, ...]]:
    return [tuple(each.values()) for each in judged.rules]


def test_it_counts_what_each_rule_would_have_done_and_names_the_changed_calls(save_rule, capsys):
    save_rule("orders_refund", "allow", name="small", order=1, when=("amount", "at_most", "50"))
    save_rule("orders_refund", "approve", name="large", order=2, when=("amount", "greater", "500"))
    save_rule("orders_refund", name="never", order=3, when=("reason", "is", "late"))
    for amount in (20, 600, 700, 100):
        keep("orders_refund", {**REFUND, "amount": amount})
    keep("orders_list", {})
    judged = judge(capsys)
    assert judged.calls == 5
    assert find_counts(judged) == [
        ("small", 1, 0, 0, 0),
        ("large", 0, 2, 0, 0),
        ("never", 0, 0, 1, 0),
    ]
    changed = [(each["request_id"], each["now"], each["rule"]) for each in judged.changed]
    assert changed == [
        ("req_3", "refused", "never"),
        ("req_2", "asked", "large"),
        ("req_1", "asked", "large"),
    ]
    assert judge(capsys, "--limit", "1").calls == 1


def test_a_rule_is_tried_before_it_is_active(save_rule, capsys):
    save_rule("orders_refund", name="first")
    save_rule("orders_refund", name="new", is_active=False, when=("amount", "greater", "500"))
    keep("orders_refund", {**REFUND, "amount": 600})
    assert find_counts(judge(capsys, "--rule", "new")) == [("new", 0, 0, 1, 0)]
    with pytest.raises(CommandError, match="new"):
        judge(capsys, "--rule", "now")


def test_a_call_that_waited_or_was_approved_is_not_called_changed(save_rule, capsys):
    save_rule("orders_refund", "approve", name="all")
    keep("orders_refund", REFUND, verdict="soft_failure", code="APPROVAL_REQUIRED")
    keep("orders_refund", REFUND)
    assert judge(capsys).changed == []
    keep("orders_refund", {**REFUND, "reason": "other"}, code="APPROVAL_REQUIRED")
    save_rule("orders_refund", "allow", order=1, when=("reason", "is", "other"))
    assert [each["now"] for each in judge(capsys).changed] == ["allowed"]


@pytest.mark.parametrize("kept", ["********", "x" * 9 + "… (900 characters)"])
def test_a_rule_that_reads_what_is_not_whole_is_not_guessed(expose, save_rule, capsys, kept):
    expose(path("gates/", GateView.as_view()))
    save_rule("gates_create", name="table", order=1, when=("note", "is_not", "x"))

    @rule("gates_create", order=2)
    def python(call):
        with suppress(Exception):
            return Ruling.refuse("No.") if call.arguments.get("password") != "open" else None
        return Ruling.refuse("It cannot be read.")

    keep("gates_create", {"password": "********", "note": kept})
    keep("gates_create", {"password": "********", "note": "x"})
    judged = judge(capsys)
    assert find_counts(judged) == [("table", 0, 0, 0, 1), ("python", 0, 0, 0, 1)]
    verb = "masks" if "*" in kept else "cuts"
    assert judged.not_known == {
        f"table: not known: the audit {verb} `note`": 1,
        "python: not known: the audit masks `password`": 1,
    }


@pytest.mark.parametrize("name", ["object", "auth"])
def test_a_rule_that_reads_what_the_audit_does_not_keep_is_not_guessed(capsys, order, name):
    rule("orders_refund")(lambda call: getattr(call, name) and Ruling.refuse("No."))
    keep("orders_refund", {**REFUND, "id": order.pk})
    assert find_counts(judge(capsys)) == [("<lambda>", 0, 0, 0, 1)]


def test_a_call_whose_user_is_gone_is_not_guessed_and_others_have_their_rights_of_today(capsys):
    @rule("orders_refund")
    def not_finance(call):
        return None if call.user.groups.exists() else Ruling.refuse("No.")

    keep("orders_refund", REFUND)
    keep("orders_refund", REFUND, "carol")
    User.objects.get(username="carol").groups.add(Group.objects.create(name="finance"))
    AuditedCall.objects.filter(pk=keep("orders_refund", REFUND).pk).update(user_pk="987654")
    assert find_counts(judge(capsys)) == [("not_finance", 0, 0, 1, 1)]


def test_nothing_is_written_sent_or_proposed(save_rule, capsys):
    @rule("orders_refund", order=1)
    def writes(call):
        Group.objects.create(name="written")

    save_rule("orders_refund", "approve", name="asks", order=2)
    keep("orders_refund", REFUND)
    before = AuditedCall.objects.count()
    assert find_counts(judge(capsys))[1] == ("asks", 0, 1, 0, 0)
    assert not Group.objects.filter(name="written").exists()
    assert not Proposal.objects.exists()
    assert (mail.outbox, AuditedCall.objects.count()) == ([], before)


def test_without_the_audit_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(apps.get_app_config("drf_mcp_audit"), "auditor", None)
    with pytest.raises(CommandError, match="keeps no calls here"):
        judge(capsys)
