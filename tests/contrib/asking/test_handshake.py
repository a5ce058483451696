"""In the handshake revisions a form comes in the response of the call, which waits."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import Group, User
from django.db import connections
from django.urls import include, path
from rest_framework.authtoken.models import Token
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ViewSet

from drf_mcp import call_context, mcp_viewset
from drf_mcp.contrib.asking import waiting
from drf_mcp.contrib.asking.models import PendingQuestion
from drf_mcp.contrib.asking.waiting import Session
from drf_mcp.exposure import registry
from tests.contrib.asking.handshake import FORMS, PAGES, Host, accept
from tests.interaction import views

REASON = {"reason": "late", "amount": 5}


@mcp_viewset(name="gifts")
class GiftViewSet(ViewSet):
    """Gifts that only staff send."""

    permission_classes: list[type] = []

    @action(detail=False, methods=["post"])
    def send(self, request):
        if not User.objects.filter(pk=request.user.pk, is_staff=True).exists():
            self.permission_denied(request)
        approval = call_context(request).ask(views.Approval, "Who approved it?")
        Group.objects.create(name=approval["approved_by"])
        return Response({"user": request.user.username})


router = SimpleRouter()
router.register("refunds", views.RefundViewSet, basename="refunds")
router.register("charges", views.ChargeViewSet, basename="charges")
router.register("gifts", GiftViewSet, basename="gifts")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def served(settings, transactional_db):
    patterns = [path("", include("drf_mcp.urls")), *router.urls]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    settings.DRF_MCP = {
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
        "WAITING_CALLS": 5,
    }
    registry.reload()
    views.PAID.clear()
    yield
    assert not PendingQuestion.objects.exists()
    connections.close_all()


def read(message):
    return message["result"]["structuredContent"]


def code(message):
    return read(message)["data"]["error_code"]


# --- Forms and pages ----------------------------------------------------------------------


def test_a_form_comes_in_the_response_and_the_call_continues_with_the_answer():
    host = Host()
    answer = host.call("refunds_create", {}, lambda params: accept(**REASON))
    assert read(answer)["data"] == {"reason": "late", "amount": "5.00"}
    (asked,) = host.asked
    assert (asked["mode"], asked["message"]) == ("form", "Why is the money given back?")
    assert set(asked["requestedSchema"]["properties"]) == {"reason", "amount", "note"}


def test_a_form_is_sent_at_most_ten_times():
    host = Host()
    answer = host.call("refunds_create", {}, lambda params: accept(reason="late", amount=0))
    assert code(answer) == "INPUT_REQUIRED"
    assert len(host.asked) == 10


@pytest.mark.parametrize("choice", ["decline", "cancel"])
def test_a_user_who_declines_or_cancels_ends_the_call(choice):
    answer = Host().call("refunds_create", {}, lambda params: {"action": choice})
    assert code(answer) == "DECLINED"


def test_writes_before_a_question_are_rolled_back(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    answer = Host().call(
        "refunds_partial_update", {"pk": "1"}, lambda params: accept(approved_by="a@example.org")
    )
    assert read(answer)["data"] == {"groups": 1}


def test_a_page_is_sent_by_its_url():
    host = Host(PAGES)

    def pay(params):
        views.PAID.add("charge")
        return {"action": "accept"}

    answer = host.call("charges_create", {}, pay)
    assert read(answer)["data"] == {"paid": True}
    assert host.asked[0]["url"] == "https://pay.example/1"
    assert host.asked[0]["elicitationId"]


def test_a_form_of_2025_06_18_has_no_mode_and_titles_choices_by_enum_names():
    host = Host({"elicitation": {}}, "2025-06-18")
    answer = host.call("refunds_create", {}, lambda params: accept(**REASON))
    assert read(answer)["success"] is True
    assert "mode" not in host.asked[0]
    reason = host.asked[0]["requestedSchema"]["properties"]["reason"]
    assert (reason["enum"], reason["enumNames"]) == (["late", "broken"], ["Came late", "Broken"])


# --- Waiting ------------------------------------------------------------------------------


def test_a_timeout_names_the_arguments_of_the_next_call(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ANSWER_TIMEOUT": 1}
    answer = Host().call("refunds_create", {}, lambda params: None)
    assert code(answer) == "INPUT_REQUIRED"
    text = answer["result"]["content"][0]["text"]
    assert "did not answer within 1 s." in text
    assert "refunds_create again with: reason, amount" in text


def test_an_answer_that_comes_too_late_is_dropped(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ANSWER_TIMEOUT": 1}
    host = Host()
    asked, *_ = list(host.begin("refunds_create", {}))
    assert host.answer(asked["id"], accept(**REASON)) == 202
    assert not PendingQuestion.objects.exists()


def test_an_answer_that_another_process_received_is_found(monkeypatch):
    """The other process cannot wake the call, so a thread polls for the answer."""
    monkeypatch.setattr(waiting, "INTERVAL", 0.02)
    host = Host()
    call = iter(host.begin("refunds_create", {}))
    question_id = next(call)["id"]
    PendingQuestion.objects.filter(pk=question_id).update(answer=[accept(**REASON)])
    assert read(next(call))["data"]["reason"] == "late"
    list(call)


def test_the_first_answer_counts():
    session, question_id = Session.open(FORMS, "someone"), "first"
    assert session.ask([question_id], 7, 60, "holder")
    session.keep_answer(question_id, {"action": "decline"})
    session.keep_answer(question_id, accept(**REASON))
    assert waiting.read_answers([question_id]) == {question_id: [{"action": "decline"}]}
    waiting.close([question_id])


@pytest.mark.parametrize("result", [5, [], "accept", None])
def test_a_malformed_answer_ends_in_input_required(result):
    host = Host()
    call = iter(host.begin("refunds_create", {}))
    host.answer(next(call)["id"], result)
    assert code(next(call)) == "INPUT_REQUIRED"
    list(call)


def test_a_cancelled_call_stops_waiting():
    host = Host()
    call = iter(host.begin("refunds_create", {}, id="seven"))
    next(call)
    params = {"requestId": "seven"}
    host.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    assert code(next(call)) == "INPUT_REQUIRED"
    list(call)


def test_another_session_cannot_cancel_the_call():
    host, other = Host(), Host()
    call = iter(host.begin("refunds_create", {}))
    question_id = next(call)["id"]
    params = {"requestId": 7}
    other.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    host.answer(question_id, accept(**REASON))
    assert read(next(call))["success"] is True
    list(call)


def test_a_closed_connection_ends_the_wait():
    before = threading.active_count()
    call = Host().begin("refunds_create", {})
    next(iter(call))
    call.hang_up()
    assert not PendingQuestion.objects.exists()
    assert threading.active_count() <= before + 1


def test_the_open_questions_of_a_caller_are_limited(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_QUESTIONS": 1}
    host, other = Host(), Host()
    call = iter(host.begin("refunds_create", {}))
    question_id = next(call)["id"]
    assert code(other.call("refunds_create", {}, lambda params: accept())) == "INPUT_REQUIRED"
    host.answer(question_id, accept(**REASON))
    assert read(next(call))["success"] is True
    list(call)


def test_a_waiting_call_keeps_no_connection_to_the_database(monkeypatch):
    closed = []
    monkeypatch.setattr(
        "drf_mcp.contrib.asking.waiting.close_idle_connections",
        lambda: closed.append(threading.current_thread()),
    )
    Host().call("refunds_create", {}, lambda params: accept(**REASON))
    assert closed
    assert threading.current_thread() not in closed


def test_an_answer_timeout_of_0_switches_sessions_and_forms_off(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ANSWER_TIMEOUT": 0}
    host = Host()
    assert host.session == {}
    assert code(host.call("refunds_create", {}, lambda params: accept())) == "INPUT_REQUIRED"


# --- Sessions and credentials ---------------------------------------------------------------


@pytest.fixture
def staff(settings):
    settings.DRF_MCP = {
        "AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "WAITING_CALLS": 5,
    }
    user, _ = User.objects.get_or_create(username="frida", defaults={"is_staff": True})
    return user


def credential(user):
    token, _ = Token.objects.get_or_create(user=user)
    return {"Authorization": f"Token {token.key}"}


def test_another_caller_cannot_use_the_session(staff):
    host = Host(headers=credential(staff))
    thief = Host(headers=credential(User.objects.create_user("thief")), opens=False)
    thief.session = host.session
    call = thief.begin("gifts_send", {})
    assert call.status.startswith("404")
    call.hang_up()
    assert thief.answer("any", accept()) == 404


def test_another_session_of_the_caller_cannot_answer(staff):
    host, other = Host(headers=credential(staff)), Host(headers=credential(staff))
    call = iter(host.begin("gifts_send", {}))
    question_id = next(call)["id"]
    other.answer(question_id, accept(approved_by="wrong@example.org"))
    host.answer(question_id, accept(approved_by="right@example.org"))
    assert read(next(call))["success"] is True
    list(call)
    assert list(Group.objects.values_list("name", flat=True)) == ["right@example.org"]


def test_an_answer_needs_a_credential(staff):
    host = Host(headers=credential(staff))
    call = iter(host.begin("gifts_send", {}))
    question_id = next(call)["id"]
    stranger = Host(opens=False)
    stranger.session = host.session
    assert stranger.answer(question_id, accept(approved_by="a@example.org")) == 401
    host.answer(question_id, {"action": "decline"})
    list(call)
    assert not Group.objects.exists()


def test_permissions_are_checked_again_after_the_answer(staff):
    def demote(params):
        User.objects.filter(pk=staff.pk).update(is_staff=False)
        return accept(approved_by="a@example.org")

    answer = Host(headers=credential(staff)).call("gifts_send", {}, demote)
    assert code(answer) == "FORBIDDEN"
    assert not Group.objects.exists()


def test_a_credential_that_was_revoked_during_the_wait_is_refused(staff):
    host = Host(headers=credential(staff))
    call = iter(host.begin("gifts_send", {}))
    question_id = next(call)["id"]
    PendingQuestion.objects.filter(pk=question_id).update(answer=[accept(approved_by="a@b.org")])
    Token.objects.all().delete()
    waiting.WAITING.wake(question_id)
    assert next(call)["error"]["code"] == 401
    list(call)
    assert not Group.objects.exists()
