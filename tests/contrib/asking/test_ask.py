"""A view asks the user of the client, in one round or in several."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import signing
from django.test import Client
from django.urls import include, path
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rest_framework.routers import SimpleRouter
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.interaction import views

router = SimpleRouter()
router.register("refunds", views.RefundViewSet, basename="refunds")
router.register("charges", views.ChargeViewSet, basename="charges")
FORMS = {"elicitation": {}}
PAGES = {"elicitation": {"form": {}, "url": {}}}


@pytest.fixture(autouse=True)
def served(settings, db):
    patterns = [path("", include("drf_mcp.urls")), *router.urls]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    settings.DRF_MCP = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    registry.reload()
    views.PAID.clear()


@pytest.fixture
def agent() -> Agent:
    return Agent(Client())


@pytest.fixture
def ask(agent) -> Callable[..., dict[str, Any]]:
    """Call a tool with these capabilities; ``state`` continues an earlier round."""

    def ask(
        name: str, capabilities: Any = None, state: Any = None, at: Agent = agent, **params: Any
    ) -> dict[str, Any]:
        meta = {"io.modelcontextprotocol/clientCapabilities": capabilities or FORMS}
        further = {} if state is None else {"requestState": state}
        return at.request("tools/call", name=name, _meta=meta, **params, **further)

    return ask


def accept(key: str, **content: Any) -> dict[str, Any]:
    return {key: {"action": "accept", "content": content}}


# --- Forms --------------------------------------------------------------------------------


def test_a_form_asks_for_the_missing_fields(ask):
    result = ask("refunds_create", arguments={})["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"]["refund_reason"] == {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Why is the money given back?",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "reason": {
                        "type": "string",
                        "oneOf": [
                            {"const": "late", "title": "Came late"},
                            {"const": "broken", "title": "Broken"},
                        ],
                        "title": "Reason",
                    },
                    "amount": {"type": "number", "minimum": 1, "title": "Amount"},
                    "note": {
                        "type": "string",
                        "maxLength": 40,
                        "title": "Note",
                        "description": "For the customer.",
                    },
                },
                "required": ["reason", "amount"],
            },
        },
    }


def test_the_answer_completes_the_call(ask):
    first = ask("refunds_create", arguments={})["result"]
    answers = accept("refund_reason", reason="late", amount=12.5)
    second = ask(
        "refunds_create", state=first["requestState"], arguments={}, inputResponses=answers
    )
    data = second["result"]["structuredContent"]["data"]
    assert data == {"reason": "late", "amount": "12.50"}


def test_a_form_leaves_out_fields_that_the_arguments_hold(ask):
    result = ask("refunds_create", arguments={"reason": "late"})["result"]
    form = result["inputRequests"]["refund_reason"]["params"]["requestedSchema"]
    assert form["required"] == ["amount"]
    assert "reason" not in form["properties"]


def test_complete_arguments_need_no_form(ask):
    arguments = {"reason": "late", "amount": "3.00"}
    result = ask("refunds_create", arguments=arguments)["result"]
    assert result["structuredContent"]["data"]["amount"] == "3.00"


def test_a_wrong_argument_is_refused_without_a_form(ask):
    result = ask("refunds_create", arguments={"reason": "bored"})["result"]
    assert result["isError"]
    assert result["structuredContent"]["data"]["details"]["field"] == "reason"


def test_a_wrong_answer_repeats_the_form_with_the_reason(ask):
    first = ask("refunds_create", arguments={})["result"]
    answers = accept("refund_reason", reason="late", amount=0)
    again = ask(
        "refunds_create", state=first["requestState"], arguments={}, inputResponses=answers
    )["result"]
    message = again["inputRequests"]["refund_reason"]["params"]["message"]
    assert message.startswith("Why is the money given back? amount: Ensure this value")


def test_several_questions_take_several_rounds(ask):
    """The state holds the earlier answers, so the client sends only the latest."""
    first = ask("refunds_approve", arguments={"pk": "1"})["result"]
    second = ask(
        "refunds_approve",
        state=first["requestState"],
        arguments={"pk": "1"},
        inputResponses=accept("refund_reason", reason="late", amount=2),
    )["result"]
    assert list(second["inputRequests"]) == ["approval"]
    third = ask(
        "refunds_approve",
        state=second["requestState"],
        arguments={"pk": "1"},
        inputResponses=accept("approval", approved_by="eve@shop.example"),
    )["result"]
    data = third["structuredContent"]["data"]
    assert data == {"reason": "late", "by": "eve@shop.example"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_user_who_declines_stops_the_call_softly(ask, action):
    answers = {"refund_reason": {"action": action}}
    result = ask("refunds_create", arguments={}, inputResponses=answers)["result"]
    envelope = result["structuredContent"]
    assert "isError" not in result
    assert (envelope["success"], envelope["data"]["error_code"]) == (False, "DECLINED")


def test_the_answer_to_another_question_is_ignored(ask):
    result = ask("refunds_create", arguments={}, inputResponses=accept("other", a=1))["result"]
    assert result["resultType"] == "input_required"


# --- Clients that cannot ask --------------------------------------------------------------


def test_a_client_without_forms_gets_the_names_of_the_arguments(subtests):
    for revision in ["2026-07-28", "2025-11-25", "2025-06-18"]:
        with subtests.test(revision=revision):
            result = Agent(Client(), revision).call("refunds_create", note="x")
            assert not result.is_error
            assert (result.envelope["success"], result.code) == (False, "INPUT_REQUIRED")
            assert [problem["pointer"] for problem in result.problems] == ["/reason", "/amount"]
            assert result.data["remediation"] == (
                "Ask the user, then call refunds_create again with: reason, amount."
            )


def test_the_tool_takes_what_the_view_asks_for(agent):
    schema = agent.tools()["refunds_create"]["inputSchema"]
    assert list(schema["properties"]) == ["reason", "amount", "note"]
    assert "required" not in schema


def test_over_http_a_missing_field_is_a_validation_error():
    answer = APIClient().post("/refunds/", {"reason": "late"}, format="json")
    assert (answer.status_code, answer.json()) == (400, {"amount": ["This field is required."]})


# --- Transactions and findings ------------------------------------------------------------


def test_the_transaction_of_a_round_is_rolled_back(ask, settings):
    settings.DATABASES["default"]["ATOMIC_REQUESTS"] = True
    try:
        assert ask("refunds_partial_update", arguments={"pk": "1"})["result"]["inputRequests"]
        assert not Group.objects.exists()
    finally:
        settings.DATABASES["default"]["ATOMIC_REQUESTS"] = False


def test_a_write_before_the_question_is_a_finding():
    findings = registry.tools()["refunds_partial_update"].findings
    assert [f.message for f in findings] == ["The view writes before it asks."]


def test_a_form_never_asks_for_a_secret(ask):
    agent = Agent(Client(raise_request_exception=False))
    result = ask("refunds_destroy", at=agent, arguments={"pk": "1"})["result"]
    assert result["structuredContent"]["data"]["error_code"] == "INTERNAL_ERROR"


# --- The state ----------------------------------------------------------------------------


@pytest.fixture
def state(ask) -> str:
    return ask("refunds_create", arguments={})["result"]["requestState"]


def assert_refused(answer: dict[str, Any], words: str) -> None:
    assert answer["error"]["code"] == -32602
    assert words in answer["error"]["message"]


def test_a_state_is_valid_for_one_tool(ask, state):
    answer = ask("refunds_approve", state=state, arguments={"pk": "1"})
    assert_refused(answer, "another call or caller")


def test_a_state_is_valid_for_the_same_arguments(ask, state):
    answer = ask("refunds_create", state=state, arguments={"note": "x"})
    assert_refused(answer, "another call or caller")


def test_a_state_is_valid_for_one_caller(ask, state):
    http = Client()
    http.force_login(User.objects.create_user("eve"))
    answer = ask("refunds_create", state=state, at=Agent(http), arguments={})
    assert_refused(answer, "another call or caller")


def test_a_state_expires(ask, state, monkeypatch):
    monkeypatch.setattr("drf_mcp.contrib.asking.feature.ANSWER_SECONDS", -1)
    assert_refused(ask("refunds_create", state=state, arguments={}), "expired")


@pytest.mark.slow
@hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)
@given(st.one_of(st.text(), st.builds(lambda v: signing.dumps(v, salt="other"), st.integers())))
def test_a_text_that_the_server_did_not_sign_is_no_state(ask, text):
    assert_refused(ask("refunds_create", state=text, arguments={}), "not one of this server")


def test_malformed_answers_are_refused(subtests, agent):
    for responses in [None, [], "x", {"refund_reason": None}, {"a": 1}]:
        with subtests.test(responses=responses):
            message, headers = agent.frame(
                "tools/call",
                {"name": "refunds_create", "arguments": {}, "inputResponses": responses},
            )
            answer = json.loads(agent.post(message, headers).content)
            assert_refused(answer, "must be an object")


# --- Pages, and tools that require a client with forms ------------------------------------


def test_a_page_is_shown_to_the_user(ask):
    result = ask("charges_create", PAGES, arguments={})["result"]
    assert result["inputRequests"]["visit"]["params"] == {
        "mode": "url",
        "message": "Pay the bill.",
        "url": "https://pay.example/1",
    }


def test_the_view_checks_whether_the_user_has_paid(ask):
    first = ask("charges_create", PAGES, arguments={})["result"]
    views.PAID.add("charge")
    second = ask(
        "charges_create",
        PAGES,
        first["requestState"],
        arguments={},
        inputResponses={"visit": {"action": "accept"}},
    )["result"]
    assert second["structuredContent"]["data"] == {"paid": True}


def test_a_tool_can_require_a_client_with_forms(agent):
    error = agent.error("tools/call", name="charges_update", arguments={"pk": "1"})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {}}}


def test_several_questions_are_asked_in_one_round(ask):
    capabilities = {**FORMS, "roots": {}}
    first = ask("charges_destroy", capabilities, arguments={"pk": "1"})["result"]
    assert first["inputRequests"]["roots"] == {"method": "roots/list"}
    answers = {**accept("name"), "roots": {"roots": [{"uri": "file:///a"}]}}
    second = ask(
        "charges_destroy",
        capabilities,
        first["requestState"],
        arguments={"pk": "1"},
        inputResponses=answers,
    )["result"]
    assert second["structuredContent"]["data"] == {"roots": [{"uri": "file:///a"}]}
