"""Calls with a key: they are made once, replayed, and refused for another change."""

from __future__ import annotations

import datetime
import json

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.urls import path
from django.utils import timezone
from rest_framework.generics import DestroyAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response

from drf_mcp import mcp_tool
from drf_mcp.contrib.writes.models import IdempotencyRecord
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.test import MCPClient
from tests.contrib.writes.idempotency import views

pytestmark = pytest.mark.django_db
ENVELOPES = (ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope)
KEY = {"idempotency_key": "monday"}
PAY = {"name": "rent", **KEY}


TOOLS = ("pay_by_key", "receipt", "pay_by_header", "receipt_by_header")


def payments(name: str = "rent") -> int:
    return Group.objects.filter(name__startswith=name).count()


def test_writing_tools_have_the_argument(payer):
    """The annotation ``idempotentHint`` stays the same."""
    definitions = payer.tools()
    argument = definitions["pay_by_key"]["inputSchema"]["properties"]["idempotency_key"]
    assert argument["description"].startswith("Names the change you intend.")
    assert definitions["pay_by_key"]["annotations"]["idempotentHint"] is False
    assert "idempotency_key" not in definitions["search_payments"]["inputSchema"]["properties"]


def test_the_same_key_again_returns_the_first_result(payer):
    """Members in another order are the same argument."""
    first = payer.call("pay_by_key", lines=[{"a": 1, "b": 2}], **PAY)
    second = payer.call("pay_by_key", lines=[{"b": 2, "a": 1}], **PAY)
    assert second.data == first.data
    assert "replayed" not in first.envelope["meta"]
    assert second.envelope["meta"]["replayed"] is True
    assert payments() == 1


def test_a_replay_differs_only_by_its_mark_and_request_id(payer):
    def without_marks(result: dict) -> dict:
        structured = dict(result.get("structuredContent", {}))
        for name in ("meta", "metadata"):
            marks = {"replayed", "request_id", "timestamp", "execution_time"}
            if name in structured:
                structured[name] = {k: v for k, v in structured[name].items() if k not in marks}
        texts = [] if structured else [result["content"][0]]
        blocks = [block for block in result["content"][1:] if block["type"] != "text"]
        facts = [json.loads(b["text"]) for b in result["content"][1:] if b["type"] == "text"]
        facts = [{k: v for k, v in each.items() if k != "replayed"} for each in facts]
        return {"structured": structured, "texts": texts, "blocks": blocks, "facts": facts or [{}]}

    for number, envelope in enumerate(ENVELOPES):
        client = MCPClient(envelope_class=envelope)
        client.force_authenticate(User.objects.get(username="alice"))
        for tool in TOOLS:
            arguments = {"name": "rent", "idempotency_key": f"{tool}-{number}"}
            first, second = (
                client.request_mcp("tools/call", {"name": tool, "arguments": arguments})
                for _ in "ab"
            )
            assert without_marks(first[0]) == without_marks(second[0]), (envelope, tool)
    assert payments() == len(ENVELOPES) * len(TOOLS)


def test_another_change_is_a_conflict_that_names_the_difference(payer):
    """Another value, an argument that is left out, and another tool."""
    payer.call("pay_by_key", way="done", **PAY)
    refused = payer.call("pay_by_key", name="lunch", way="done", **KEY)
    assert refused.code == "CONFLICT"
    assert [problem["pointer"] for problem in refused.problems] == ["/name"]
    assert "with another value of: name" in refused.envelope["error"]
    assert "rent" not in str(refused.raw)
    assert payer.call("pay_by_key", **PAY).problems[0]["pointer"] == "/way"
    refused = payer.call("receipt", **PAY)
    assert refused.code == "CONFLICT"
    assert "pay_by_key" in refused.envelope["error"]
    assert (payments(), payments("lunch")) == (1, 0)


def test_the_keys_of_two_callers_are_independent(payer, agent_of):
    payer.call("pay_by_key", **PAY)
    answer = agent_of("bob").call("pay_by_key", name="lunch", **KEY)
    assert answer.data["by"] == ["bob"]


def test_a_refusal_frees_the_key_and_keeps_the_writes(payer):
    for number, way in enumerate(["refused", "no"], 1):
        assert payer.call("pay_by_key", way=way, **PAY).envelope["success"] is False
        assert payments() == number
    assert payer.call("pay_by_key", name="lunch", **KEY).envelope["success"] is True


def test_a_crash_frees_the_key_and_rolls_back_the_writes(payer):
    for tool in ("pay_by_key", "pay_by_header"):
        for way in ("crash", "unavailable"):
            payer.call(tool, way=way, **PAY)
            assert (payments(), IdempotencyRecord.objects.count()) == (0, 0), (tool, way)


@mcp_tool(name="pay_deeply", idempotency_key=True)
class DeepPayments(views.PlainPayments):
    def post(self, request) -> Response:
        row = self.pay(request)
        answer = row.name
        for _level in range(request.data["lines"][0]):
            answer = [answer]
        return Response(answer)


@pytest.mark.parametrize("levels", [200, 5000])
def test_a_change_whose_answer_is_nested_too_deep_is_rolled_back(serve, payer, levels):
    """As other answers that cannot be encoded."""
    serve(path("deep/", DeepPayments.as_view()))
    for _attempt in range(2):
        assert payer.call("pay_deeply", lines=[levels], **PAY).code == "INTERNAL_ERROR"
        assert payments() == 0
    assert not payer.call("pay_deeply", lines=[20], **PAY).is_error


@pytest.mark.django_db(transaction=True)
def test_a_failure_after_the_commit_is_reported_and_the_change_not_repeated(serve, reported):
    serve()
    # Tests with real commits leave no seeded users.
    client = MCPClient(raise_request_exception=False)
    client.force_authenticate(User.objects.create_user("committer"))
    failed, again = (client.call_tool("pay_by_key", PAY, way="commit_fails") for _ in "ab")
    assert failed.error.code == "INTERNAL_ERROR"
    assert len(reported) == 1
    assert again.meta["replayed"] is True
    assert payments() == 1


def test_an_invalid_key_is_refused(payer):
    for tool in ("pay_by_key", "pay_by_header"):
        for key in ("", "two words", "x" * 256, "tab\t", "ü", 7):
            refused = payer.call(tool, name="rent", idempotency_key=key)
            assert refused.problems[0]["pointer"] == "/idempotency_key", (tool, key)
    assert payments() == 0


def test_an_anonymous_caller_has_no_keys(serve, agent_of):
    class Open(views.KeyedPayments):
        permission_classes: list = []

    Open.mcp_tool = views.KeyedPayments.mcp_tool
    serve(
        path("open/", Open.as_view()),
        PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"],
        EXCLUDE=["/pay/"],
    )
    refused = agent_of(None).call("pay_by_key", **PAY)
    assert refused.problems[0]["message"].startswith("A key needs a caller who is signed in")


def test_an_answer_expires_after_the_window_of_the_settings(serve, agent_of):
    serve(IDEMPOTENCY_WINDOW=60)
    payer = agent_of("alice")
    payer.call("pay_by_key", **PAY)
    left = IdempotencyRecord.objects.get().expires - timezone.now()
    assert datetime.timedelta(seconds=50) < left <= datetime.timedelta(seconds=60)
    IdempotencyRecord.objects.update(expires=timezone.now())
    assert "replayed" not in payer.call("pay_by_key", name="lunch", **KEY).envelope["meta"]


def test_mcp_expire_deletes_expired_records(payer, capsys):
    payer.call("pay_by_key", **PAY)
    payer.call("pay_by_key", name="rent", idempotency_key="tuesday")
    IdempotencyRecord.objects.filter(key="monday").update(expires=timezone.now())
    call_command("mcp_expire")
    assert "Deleted answers to changes: 1" in capsys.readouterr().out
    assert IdempotencyRecord.objects.get().key == "tuesday"


def test_the_same_call_without_a_key_is_one_change_within_the_repeat_window(serve, agent_of):
    serve(REPEAT_WINDOW=10)
    alice = agent_of("alice")
    first, second = alice.call("pay_by_key", name="rent"), alice.call("pay_by_key", name="rent")
    assert second.data == first.data
    assert second.envelope["meta"]["replayed"] is True
    assert alice.call("pay_by_key", name="lunch").data != first.data
    IdempotencyRecord.objects.update(expires=timezone.now())
    assert alice.call("pay_by_key", name="rent").data != first.data


# --- Permissions that change after the first call ---------------------------------------------


def test_a_replay_under_other_permissions_shows_no_data_and_changes_nothing(payer):
    """Other flags, groups or permissions."""
    changes = [
        lambda alice: User.objects.filter(pk=alice.pk).update(is_staff=not alice.is_staff),
        lambda alice: alice.groups.add(Group.objects.create(name="former")),
        lambda alice: alice.user_permissions.add(Permission.objects.first()),
    ]
    for number, change in enumerate(changes):
        keys = {t: {"name": "rent", "idempotency_key": f"{t}-{number}"} for t in TOOLS}
        for tool, arguments in keys.items():
            payer.call(tool, **arguments)
        change(User.objects.get(username="alice"))
        for tool, arguments in keys.items():
            again = payer.call(tool, **arguments)
            assert again.envelope["success"], tool
            assert again.envelope["meta"]["replayed"] is True
            assert "not made again" in str(again.envelope)
            assert not {"row", "by", "paid"} & again.data.keys()
        assert payments() == (number + 1) * len(TOOLS)


def test_a_caller_who_may_not_make_the_call_any_more_is_refused(payer):
    User.objects.filter(username="alice").update(is_staff=True)
    assert payer.call("pay_as_staff", **PAY).data["row"]
    User.objects.filter(username="alice").update(is_staff=False)
    refused = payer.call("pay_as_staff", **PAY)
    assert (refused.is_error, refused.code) == (True, "FORBIDDEN")


class LockedShop:
    """Refuses each call once the shop is locked."""

    is_locked = False

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request):
        if LockedShop.is_locked:
            raise PermissionDenied("This shop is locked.")
        return self.get_response(request)


def test_middleware_around_the_call_refuses_the_replay_as_well(serve, agent_of, monkeypatch):
    serve(CALL_MIDDLEWARE=[f"{__name__}.LockedShop"])
    payer = agent_of("alice")
    keys = {tool: {"name": "rent", "idempotency_key": tool} for tool in TOOLS[::2]}
    for tool, sent in keys.items():
        payer.call(tool, **sent)
        assert payer.call(tool, **sent).envelope["meta"]["replayed"] is True
    monkeypatch.setattr(LockedShop, "is_locked", True)
    assert [payer.call(tool, **sent).code for tool, sent in keys.items()] == ["FORBIDDEN"] * 2


class Lines(DestroyAPIView):
    """Deletes a line, so that a replay does not find the object."""

    permission_classes = [IsAuthenticated]
    queryset = Group.objects.all()

    def destroy(self, request, *args, **kwargs) -> Response:
        group = self.get_object()
        group.delete()
        return Response({"deleted": group.name})
