"""Calls with a key: made once, answered again, refused for another change."""

from __future__ import annotations

import datetime
import json

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.urls import path
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.generics import DestroyAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response

from drf_mcp import mcp_tool
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.models import IdempotencyRecord
from drf_mcp.test import MCPClient
from tests.guards.idempotency import views

pytestmark = pytest.mark.django_db
KEY = {"idempotency_key": "monday"}
PAY = {"name": "rent", **KEY}


def test_the_argument_is_offered_by_tools_that_change_something(payer):
    definitions = payer.tools()
    argument = definitions["pay_by_key"]["inputSchema"]["properties"]["idempotency_key"]
    assert argument["description"].startswith("Names the change you intend.")
    assert "idempotency_key" not in definitions["search_payments"]["inputSchema"]["properties"]


def test_idempotent_hint_stays_that_of_the_tool(payer):
    assert payer.tools()["pay_by_key"]["annotations"]["idempotentHint"] is False


def test_the_same_key_again_has_the_first_answer(payer):
    first, second = payer.call("pay_by_key", **PAY), payer.call("pay_by_key", **PAY)
    assert second.data == first.data
    assert (first.envelope["meta"].get("replayed"), second.envelope["meta"]["replayed"]) == (
        None,
        True,
    )
    assert Group.objects.filter(name__startswith="rent").count() == 1


@pytest.mark.parametrize("tool", ["pay_by_key", "receipt", "pay_by_header", "receipt_by_header"])
@pytest.mark.parametrize(
    "envelope", [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]
)
def test_the_answers_are_the_same_but_for_the_mark_and_the_request_id(payer, tool, envelope):
    client = MCPClient(envelope_class=envelope)
    client.force_authenticate(User.objects.get(username="alice"))
    first, second = (
        client.request_mcp("tools/call", {"name": tool, "arguments": PAY}) for _ in "ab"
    )

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

    assert without_marks(first[0]) == without_marks(second[0])
    assert Group.objects.filter(name__startswith="rent").count() == 1


def test_other_arguments_are_a_conflict_that_names_them(payer):
    payer.call("pay_by_key", **PAY)
    refused = payer.call("pay_by_key", name="lunch", **KEY)
    assert refused.code == "CONFLICT"
    assert [problem["pointer"] for problem in refused.problems] == ["/name"]
    assert "with another value of: name" in refused.envelope["error"]
    assert "rent" not in str(refused.raw)
    assert Group.objects.filter(name__startswith="lunch").count() == 0


def test_another_tool_is_a_conflict_that_names_the_first(payer):
    payer.call("pay_by_key", **PAY)
    refused = payer.call("receipt", **PAY)
    assert refused.code == "CONFLICT"
    assert "pay_by_key" in refused.envelope["error"]


def test_an_argument_that_is_left_out_is_another_argument(payer):
    payer.call("pay_by_key", way="done", **PAY)
    assert payer.call("pay_by_key", **PAY).problems[0]["pointer"] == "/way"


def test_members_in_another_order_are_the_same_argument(payer):
    first = payer.call("pay_by_key", lines=[{"a": 1, "b": 2}], **PAY)
    assert payer.call("pay_by_key", lines=[{"b": 2, "a": 1}], **PAY).data == first.data


def test_another_caller_has_keys_of_their_own(payer, agent_of):
    payer.call("pay_by_key", **PAY)
    answer = agent_of("bob").call("pay_by_key", name="lunch", **KEY)
    assert answer.data["by"] == ["bob"]


@pytest.mark.parametrize("way", ["refused", "no"])
def test_a_refusal_frees_the_key_and_keeps_what_was_written(payer, way):
    refused = payer.call("pay_by_key", way=way, **PAY)
    assert refused.envelope["success"] is False
    assert Group.objects.filter(name__startswith="rent").count() == 1
    assert payer.call("pay_by_key", name="lunch", **KEY).envelope["success"] is True


@pytest.mark.parametrize("tool", ["pay_by_key", "pay_by_header"])
@pytest.mark.parametrize("way", ["crash", "unavailable"])
def test_a_crash_frees_the_key_and_takes_everything_back(payer, tool, way):
    payer.call(tool, way=way, **PAY)
    assert Group.objects.filter(name__startswith="rent").count() == 0
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_fails_after_the_commit_is_reported_and_not_done_twice(serve, reported):
    serve()
    # Tests with real commits leave no seeded users.
    client = MCPClient(raise_request_exception=False)
    client.force_authenticate(User.objects.create_user("committer"))
    failed, again = (client.call_tool("pay_by_key", PAY, way="commit_fails") for _ in "ab")
    assert failed.error.code == "INTERNAL_ERROR"
    assert len(reported) == 1
    assert again.meta["replayed"] is True
    assert Group.objects.filter(name__startswith="rent").count() == 1


def test_who_may_not_call_the_tool_any_more_has_no_answer(payer, agent_of):
    boss = User.objects.filter(is_staff=True).first()
    client = MCPClient()
    client.force_authenticate(boss)
    assert client.call_tool("pay_as_staff", PAY).data["row"]
    boss.is_staff = False
    refused = client.call_tool("pay_as_staff", PAY)
    assert refused.is_error
    assert refused.error.code == "FORBIDDEN"


@pytest.mark.parametrize("tool", ["pay_by_key", "pay_by_header"])
@pytest.mark.parametrize("key", ["", "two words", "x" * 256, "tab\t", "ü", 7])
def test_what_is_no_key_is_refused(payer, tool, key):
    refused = payer.call(tool, name="rent", idempotency_key=key)
    assert refused.problems[0]["pointer"] == "/idempotency_key"
    assert Group.objects.filter(name__startswith="rent").count() == 0


@given(key=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255))
def test_any_visible_characters_are_a_key(payer, key):
    IdempotencyRecord.objects.all().delete()
    answers = [payer.call("pay_by_header", name="rent", idempotency_key=key).data for _ in "ab"]
    assert answers[0] == answers[1]
    assert IdempotencyRecord.objects.get().key == key


def test_a_null_is_no_key(payer):
    first, second = (payer.call("pay_by_key", name="rent", idempotency_key=None) for _ in "ab")
    assert first.data != second.data


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


def test_an_answer_expires(payer, serve):
    payer.call("pay_by_key", **PAY)
    IdempotencyRecord.objects.update(expires=timezone.now())
    assert "replayed" not in payer.call("pay_by_key", name="lunch", **KEY).envelope["meta"]


def test_the_window_is_a_setting(serve, agent_of):
    serve(IDEMPOTENCY_WINDOW=60)
    agent_of("alice").call("pay_by_key", **PAY)
    left = IdempotencyRecord.objects.get().expires - timezone.now()
    assert datetime.timedelta(seconds=50) < left <= datetime.timedelta(seconds=60)


def test_mcp_expire_deletes_what_has_expired(payer, capsys):
    payer.call("pay_by_key", **PAY)
    payer.call("pay_by_key", name="rent", idempotency_key="tuesday")
    IdempotencyRecord.objects.filter(key="monday").update(expires=timezone.now())
    call_command("mcp_expire")
    assert "Deleted 1 answer to a change." in capsys.readouterr().out
    assert IdempotencyRecord.objects.get().key == "tuesday"


def test_without_a_key_every_call_is_a_change(payer):
    for _ in "ab":
        payer.call("pay_by_key", name="rent")
    assert Group.objects.filter(name__startswith="rent").count() == 2
    assert not IdempotencyRecord.objects.exists()


def test_the_same_call_without_a_key_is_one_change_within_the_repeat_window(serve, agent_of):
    serve(REPEAT_WINDOW=10)
    alice = agent_of("alice")
    first, second = alice.call("pay_by_key", name="rent"), alice.call("pay_by_key", name="rent")
    assert second.data == first.data
    assert second.envelope["meta"]["replayed"] is True
    assert alice.call("pay_by_key", name="lunch").data != first.data
    IdempotencyRecord.objects.update(expires=timezone.now())
    assert alice.call("pay_by_key", name="rent").data != first.data


def test_the_setting_gives_keys_to_every_tool_that_changes_something(serve, agent_of):
    class Unnamed(views.PlainPayments):
        pass

    serve(path("unnamed/", Unnamed.as_view()), IDEMPOTENCY_KEYS=True, EXPOSE="urlconf")
    definitions = agent_of("alice").tools()
    assert "idempotency_key" in definitions["unnamed"]["inputSchema"]["properties"]
    assert "idempotency_key" not in definitions["search_payments"]["inputSchema"]["properties"]


def test_grouped_arguments_have_the_key_in_the_query(serve, agent_of):
    serve(ARGUMENTS="grouped")
    alice = agent_of("alice")
    first, second = (
        alice.call("pay_by_key", body={"name": name}, query=KEY) for name in ("rent", "lunch")
    )
    assert first.envelope["success"] is True
    assert second.problems[0]["pointer"] == "/body/name"


def test_nothing_that_was_sent_can_be_read_off_a_record(payer):
    payer.call("pay_by_key", name="s3cret", **KEY)
    assert "s3cret" not in str(IdempotencyRecord.objects.values_list("arguments", flat=True))


# --- Rights that have changed since -----------------------------------------------------------


@pytest.mark.parametrize("tool", ["pay_by_key", "receipt", "pay_by_header", "receipt_by_header"])
@pytest.mark.parametrize(
    "change",
    [
        lambda alice: User.objects.filter(pk=alice.pk).update(is_staff=not alice.is_staff),
        lambda alice: alice.groups.add(Group.objects.create(name="former")),
        lambda alice: alice.user_permissions.add(Permission.objects.first()),
    ],
    ids=["flags", "groups", "permissions"],
)
def test_the_answer_is_not_given_under_other_rights_and_the_change_not_made_again(
    payer, tool, change
):
    payer.call(tool, **PAY)
    change(User.objects.get(username="alice"))
    again = payer.call(tool, **PAY)
    assert again.envelope["success"]
    assert again.envelope["meta"]["replayed"] is True
    assert "not made again" in str(again.envelope)
    assert not {"row", "by", "paid"} & again.data.keys()
    assert Group.objects.filter(name__startswith="rent").count() == 1


def test_a_caller_who_may_not_make_the_call_any_more_is_refused(payer):
    User.objects.filter(username="alice").update(is_staff=True)
    payer.call("pay_as_staff", **PAY)
    User.objects.filter(username="alice").update(is_staff=False)
    assert payer.call("pay_as_staff", **PAY).code == "FORBIDDEN"


class LockedShop:
    """Refuses each call once the shop is locked."""

    is_locked = False

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request):
        if LockedShop.is_locked:
            raise PermissionDenied("This shop is locked.")
        return self.get_response(request)


@pytest.mark.parametrize("tool", ["pay_by_key", "pay_by_header"])
def test_middleware_around_the_call_refuses_the_replay_as_well(serve, agent_of, monkeypatch, tool):
    serve(CALL_MIDDLEWARE=[f"{__name__}.LockedShop"])
    payer = agent_of("alice")
    payer.call(tool, **PAY)
    assert payer.call(tool, **PAY).envelope["meta"]["replayed"] is True
    monkeypatch.setattr(LockedShop, "is_locked", True)
    assert payer.call(tool, **PAY).code == "FORBIDDEN"


class Lines(DestroyAPIView):
    """Deletes a line, which no request finds afterwards."""

    permission_classes = [IsAuthenticated]
    queryset = Group.objects.all()

    def destroy(self, request, *args, **kwargs) -> Response:
        group = self.get_object()
        group.delete()
        return Response({"deleted": group.name})


def test_an_object_that_the_first_call_deleted_does_not_fail_the_replay(serve, agent_of):
    view = mcp_tool(name="line_delete", idempotency_key=True)(Lines)
    serve(path("lines/<int:pk>/", view.as_view()))
    payer, line = agent_of("alice"), Group.objects.create(name="line")
    first = payer.call("line_delete", pk=line.pk, **KEY)
    assert first.data == {"deleted": "line"}
    assert payer.call("line_delete", pk=line.pk, **KEY).data == first.data


class OfRole(Lines):
    """Is answered by the role of a table of the project's own."""

    role = "owner"

    def get_rights_fingerprint(self, request) -> str:
        return self.role


def test_a_view_adds_rights_that_only_the_project_knows(serve, agent_of, monkeypatch):
    view = mcp_tool(name="line_delete", idempotency_key=True)(OfRole)
    serve(path("lines/<int:pk>/", view.as_view()))
    payer, line = agent_of("alice"), Group.objects.create(name="line")
    payer.call("line_delete", pk=line.pk, **KEY)
    assert payer.call("line_delete", pk=line.pk, **KEY).data == {"deleted": "line"}
    monkeypatch.setattr(OfRole, "role", "guest")
    assert payer.call("line_delete", pk=line.pk, **KEY).data == {}
