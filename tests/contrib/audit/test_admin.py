"""Where operators read the audit: the admin site and the command."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from drf_mcp.contrib.audit.models import AuditedCall

LIST = "admin:drf_mcp_audit_auditedcall_changelist"


@pytest.fixture
def rows(db):
    """Three calls of different ages, users and verdicts."""
    alice = User.objects.get(username="alice")
    made = [
        {"tool": "orders_list", "verdict": "success", "age": timedelta(days=40)},
        {"tool": "orders_refund", "verdict": "failed", "code": "NOT_FOUND", "age": timedelta(0)},
        {"tool": "orders_list", "verdict": "denied", "user": None, "age": timedelta(hours=3)},
    ]
    for number, members in enumerate(made):
        user = members.pop("user", alice)
        AuditedCall.objects.create(
            time=timezone.now() - members.pop("age"),
            user_pk="" if user is None else user.pk,
            user_label="" if user is None else user.username,
            method="tools/call",
            request_id=f"req_{number}",
            arguments=json.dumps({"number": number, "note": "<b>żółw</b>"}, ensure_ascii=False),
            duration_ms=1.5,
            **members,
        )


def run(*args: str) -> str:
    stdout = io.StringIO()
    call_command("mcp_audit", *args, stdout=stdout)
    return stdout.getvalue()


def ids(*args: str) -> list[str]:
    return [json.loads(line)["request_id"] for line in run("--json", *args).splitlines()]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ([], ["req_1", "req_2", "req_0"]),
        (["--as", "alice"], ["req_1", "req_0"]),
        (["--as", "anonymous"], ["req_2"]),
        (["--tool", "orders_list"], ["req_2", "req_0"]),
        (["--verdict", "denied"], ["req_2"]),
        (["--verdict", "not_found"], ["req_1"]),
        (["--request", "req_0"], ["req_0"]),
        (["--since", "1d"], ["req_1", "req_2"]),
        (["--since", "1d", "--until", "1h"], ["req_2"]),
        (["--until", "2000-01-01"], []),
        (["--since", "2000-01-01 10:00"], ["req_1", "req_2", "req_0"]),
        (["--limit", "1"], ["req_1"]),
    ],
)
def test_the_command_filters(rows, args, found):
    assert ids(*args) == found


def test_a_mistyped_user_is_refused(rows):
    with pytest.raises(CommandError, match=r"Did you mean alice\?"):
        run("--as", "alcie")


@pytest.mark.parametrize("when", ["yesterday", "3y", "2000-13-01"])
def test_a_mistyped_moment_is_refused(rows, when):
    with pytest.raises(CommandError, match="neither a date nor an age"):
        run("--since", when)


def test_the_export_holds_every_column_of_each_call_oldest_first(rows):
    lines = [json.loads(line) for line in run("--export").splitlines()]
    assert [line["request_id"] for line in lines] == ["req_0", "req_2", "req_1"]
    names = {field.name for field in AuditedCall._meta.concrete_fields}
    assert set(lines[0]) == names
    assert lines[0]["arguments"] == {"number": 0, "note": "<b>żółw</b>"}


def test_mcp_expire_deletes_calls_older_than_the_retention(rows, settings):
    stdout = io.StringIO()
    call_command("mcp_expire", stdout=stdout)
    assert "audited" not in stdout.getvalue()
    settings.DRF_MCP = {"AUDIT_RETENTION": 20}
    call_command("mcp_expire", stdout=stdout)
    assert "Deleted audited calls: 1" in stdout.getvalue()


@pytest.fixture
def site(client, admin_user):
    client.force_login(admin_user)
    return client


@pytest.mark.slow
def test_the_admin_lists_filters_and_searches(rows, site):
    page = site.get(reverse(LIST)).content.decode()
    assert "orders_refund" in page
    assert "anonymous" in page
    page = site.get(reverse(LIST), {"verdict__exact": "denied"}).content.decode()
    assert "req_1" not in page
    found = site.get(reverse(LIST), {"q": "req_1"}).context["cl"].queryset
    assert [row.request_id for row in found] == ["req_1"]


def test_the_admin_shows_a_call_and_escapes_it(rows, site):
    pk = AuditedCall.objects.get(request_id="req_1").pk
    page = site.get(reverse("admin:drf_mcp_audit_auditedcall_change", args=[pk])).content.decode()
    assert "&lt;b&gt;żółw&lt;/b&gt;" in page


def test_the_admin_adds_changes_and_deletes_no_record(rows, site):
    pk = AuditedCall.objects.first().pk
    for name, args in (("add", []), ("delete", [pk])):
        url = reverse(f"admin:drf_mcp_audit_auditedcall_{name}", args=args)
        assert site.post(url, {"post": "yes"}).status_code == 403
    url = reverse("admin:drf_mcp_audit_auditedcall_change", args=[pk])
    assert site.post(url, {"tool": "other"}).status_code == 403
    assert AuditedCall.objects.count() == 3
