"""The tools of an endpoint for an assistant in the project: callers and formats."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import JsonResponse
from django.test import Client, RequestFactory
from django.urls import include, path
from rest_framework.authentication import SessionAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.response import Response

from drf_mcp import Toolbox
from drf_mcp.views import MCPView
from example_project.shop.models import Customer
from tests.documentation.pages import DOCS, blocks

CREATE = {"name": "Cleo", "email": "cleo@example.com", "country": "DE"}
TOKEN = "t" * 32


@pytest.fixture
def toolbox(db) -> Toolbox:
    """The tools of alice, whose token is in the request."""
    token = Token.objects.get(user__username="alice")
    headers = {"authorization": f"Token {token.key}"}
    request = RequestFactory(headers=headers).post("/assistant/")
    request.user = AnonymousUser()
    return Toolbox(request, "/mcp")


def test_the_list_is_the_one_over_http(toolbox, alice):
    assert toolbox.list_tools() == [*alice.tools().values()]


def test_a_long_list_is_read_to_its_end(toolbox, settings):
    names = [tool["name"] for tool in toolbox.list_tools()]
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLS_PAGE_SIZE": 7}
    assert [tool["name"] for tool in toolbox.list_tools()] == names


def test_a_call_answers_what_it_answers_over_http(toolbox, alice):
    answer = toolbox.call("customers_list", {"page_size": 2})
    assert json.loads(answer.text)["data"] == alice.call("customers_list", page_size=2).data
    assert not answer.is_error


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("customers_lst", {}, "customers_list"),
        ("customers_list", '{"page_size": ', "no JSON"),
        ("customers_retrieve", {"id": 10**9}, "NOT_FOUND"),
    ],
)
def test_what_a_model_writes_wrong_is_an_answer_for_the_model(toolbox, name, arguments, says):
    answer = toolbox.call(name, arguments)
    assert answer.is_error
    assert says in answer.text


@pytest.mark.parametrize("as_object", [False, True])
def test_each_format_of_a_call_has_its_own_answer(toolbox, as_object):
    sent = {"product": "desk-lamp", "quantity": 3}
    function = {"name": "quote", "arguments": json.dumps(sent)}
    calls = [
        {
            "type": "tool_use",
            "id": "1",
            "name": "quote",
            "input": json.loads(function["arguments"]),
        },
        {"type": "function_call", "call_id": "2", **function},
        {"type": "function", "id": "3", "function": function},
    ]
    if as_object:
        calls[2]["function"] = SimpleNamespace(**function)
        calls = [SimpleNamespace(**call) for call in calls]
    answers = [toolbox.answer(call) for call in calls]
    names = ["content", "output", "content"]
    told = [answer.pop(name) for answer, name in zip(answers, names, strict=True)]
    assert [json.loads(each)["data"]["total"] for each in told] == ["222.00"] * 3
    assert answers == [
        {"type": "tool_result", "tool_use_id": "1"},
        {"type": "function_call_output", "call_id": "2"},
        {"role": "tool", "tool_call_id": "3"},
    ]


def test_anthropic_is_told_that_a_call_failed(toolbox):
    call = {"type": "tool_use", "id": "1", "name": "customers_retrieve", "input": {"id": 10**9}}
    assert toolbox.answer(call)["is_error"] is True


def test_a_text_of_a_model_is_no_call(toolbox):
    with pytest.raises(TypeError, match="text is no call"):
        toolbox.answer({"type": "text", "text": "Done."})


def test_each_format_of_a_list_has_all_tools(toolbox):
    tools = {tool["name"]: tool["inputSchema"] for tool in toolbox.list_tools()}
    assert {each["name"]: each["input_schema"] for each in toolbox.for_anthropic()} == tools
    assert {each["name"]: each["parameters"] for each in toolbox.for_openai()} == tools
    chat = [each["function"] for each in toolbox.for_openai_chat()]
    assert {each["name"]: each["parameters"] for each in chat} == tools


def test_a_caller_whom_the_endpoint_refuses_is_refused(db):
    request = RequestFactory().post("/assistant/")
    request.user = AnonymousUser()
    with pytest.raises(NotAuthenticated):
        Toolbox(request, "/mcp").call("customers_list")


def test_one_of_several_endpoints_has_to_be_named(db):
    with pytest.raises(LookupError, match="/mcp/readonly"):
        Toolbox(RequestFactory().post("/assistant/"))


@pytest.fixture
def browser(settings, db) -> Client:
    """A browser of alice, whose project has an assistant in a view of Django and one of DRF."""

    def assist(request):
        answer = Toolbox(request).call("customers_create", CREATE)
        return JsonResponse({"failed": answer.is_error, "text": answer.text})

    @api_view(["POST"])
    def assist_by_rest(request):
        answer = Toolbox(request).call("customers_create", request.data)
        return Response({"failed": answer.is_error, "text": answer.text})

    assist_by_rest.cls.authentication_classes = [SessionAuthentication]
    endpoint = MCPView.as_view(authentication_classes=[SessionAuthentication])
    settings.ROOT_URLCONF = type(
        "URLConf",
        (),
        {
            "urlpatterns": [
                path("assist/", assist),
                path("rest/", assist_by_rest),
                path("agents/", endpoint),
                path("api/", include("example_project.shop.urls")),
            ]
        },
    )
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="alice"))
    browser.cookies["csrftoken"] = TOKEN
    return browser


@pytest.mark.parametrize("at", ["/assist/", "/rest/"])
def test_a_session_calls_with_the_csrf_token_of_the_request(browser, at):
    headers = {"x-csrftoken": TOKEN}
    answer = browser.post(at, CREATE, content_type="application/json", headers=headers).json()
    assert not answer["failed"], answer
    assert Customer.objects.filter(email="cleo@example.com").exists()


def test_a_request_whose_csrf_token_nobody_checked_writes_nothing(browser):
    """A link on another page would have the session's cookie."""
    with pytest.raises(PermissionDenied, match="CSRF"):
        browser.get("/assist/")
    assert not Customer.objects.filter(email="cleo@example.com").exists()


def test_the_view_of_the_page_converses_until_the_model_calls_no_tool(toolbox):
    page = next(block for block in blocks(DOCS / "assistant.md") if block.file)
    names: dict = {}
    exec(compile(page.text, page.file, "exec"), names)
    sent: list = []

    def create(*, messages, **_options):
        sent.append([dict(message) for message in messages])
        if len(messages) > 1:
            return SimpleNamespace(content=[SimpleNamespace(type="text", text="222.00")])
        call = {"name": "quote", "input": {"product": "desk-lamp"}}
        return SimpleNamespace(content=[SimpleNamespace(type="tool_use", id="1", **call)])

    client = SimpleNamespace(messages=SimpleNamespace(create=create))
    assert names["converse"](client, toolbox, "What do three lamps cost?") == "222.00"
    (result,) = sent[1][-1]["content"]
    assert json.loads(result["content"])["data"]["product"] == "desk-lamp"
