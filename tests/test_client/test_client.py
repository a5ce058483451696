"""``MCPClient``: the abilities of `APIClient`, and tools."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponseNotFound
from django.urls import path
from django.views.generic import RedirectView
from rest_framework.authtoken.models import Token
from rest_framework.response import Response
from rest_framework.test import APIClient
from rest_framework.views import APIView

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, StatusEnvelope
from drf_mcp.test import MCPClient, MCPRefused
from drf_mcp.views import MCPView
from tests.agents import REVISIONS

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> MCPClient:
    return make_client()


def make_client(**options) -> MCPClient:
    client = MCPClient(**options)
    client.force_authenticate(User.objects.get(username="alice"))
    return client


class Echo(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        return Response({"client": request.META.get("HTTP_X_CLIENT")})


class Crash(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        raise RuntimeError("broken")


def test_the_client_is_an_api_client(client):
    assert isinstance(client, APIClient)
    assert client.get("/api/stats/").data["customers"] == 30


@pytest.mark.slow
def test_tools_are_listed_by_name_in_every_revision(subtests):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            tools = make_client(revision=revision).list_tools()
            assert tools["stats"]["inputSchema"]["type"] == "object"
            assert "customers_deactivate" not in tools


@pytest.mark.slow
def test_every_page_of_tools_is_listed(client, settings):
    everything = client.list_tools()
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLS_PAGE_SIZE": 3}
    assert client.list_tools() == everything


def test_a_result_has_the_data_of_the_tool(subtests):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            result = make_client(revision=revision).call_tool("customers_list", page_size=2)
            assert result.ok
            assert not result.is_error
            assert len(result.data["results"]) == 2
            assert result.meta["pagination"]["total_count"] == 30


def test_arguments_may_be_a_mapping(client):
    assert client.call_tool("customers_list", {"page_size": 1}, page=2).ok


def test_an_error_has_code_message_and_problems(client):
    result = client.call_tool("quote", product="none", quantity=0)
    assert result.is_error
    assert result.data is None
    assert result.error.code == "VALIDATION_ERROR"
    assert [problem.path for problem in result.problems] == ["product", "quantity"]
    assert result.problems[1].received == 0
    assert result.problems[1].accepted == "an integer from 1 to 1000"


def test_problems_are_read_from_other_envelopes(subtests):
    for envelope_class in [OkEnvelope, StatusEnvelope]:
        with subtests.test(envelope_class=envelope_class):
            result = make_client(envelope_class=envelope_class).call_tool(
                "quote", product="none", quantity=0
            )
            assert result.is_error
            assert result.error.code == "does_not_exist"
            assert [problem.pointer for problem in result.problems] == ["/product", "/quantity"]
            assert all(problem.remediation for problem in result.problems)


@pytest.mark.parametrize("envelope_class", [OkEnvelope, StatusEnvelope, PlainEnvelope])
def test_data_is_read_from_other_envelopes(client, envelope_class):
    expected = client.call_tool("stats").data
    assert make_client(envelope_class=envelope_class).call_tool("stats").data == expected


def test_the_message_of_an_error_without_envelope_is_its_text():
    result = make_client(envelope_class=PlainEnvelope).call_tool("orders_retrieve", pk=0)
    assert result.error.message.startswith("Error executing tool:")


def test_the_envelope_class_of_a_client_applies_to_that_client_only(client):
    make_client(envelope_class=PlainEnvelope).call_tool("stats")
    assert client.call_tool("stats").envelope["meta"]["version"] == "response-v2"


def test_a_result_has_the_raw_result_and_its_content(client):
    result = client.call_tool("stats")
    assert result.raw["content"] is result.content
    assert result.content[0]["type"] == "text"
    assert result.response.status_code == 200


@pytest.mark.slow
def test_credentials_are_sent():
    client = MCPClient()
    token = Token.objects.get(user__username="carol")
    client.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
    assert "customers_deactivate" in client.list_tools()


def test_csrf_checks_can_be_enforced():
    client = MCPClient(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="carol"))
    with pytest.raises(MCPRefused) as refused:
        client.list_tools()
    assert refused.value.response.status_code == 403


def test_a_client_without_credentials_is_refused():
    with pytest.raises(MCPRefused) as refused:
        MCPClient().list_tools()
    assert (refused.value.code, refused.value.response.status_code) == (401, 401)


def test_an_unknown_tool_is_refused(client):
    with pytest.raises(MCPRefused, match="Did you mean stats") as refused:
        client.call_tool("stat")
    assert refused.value.code == -32602


def test_default_headers_of_the_client_reach_the_view(expose):
    expose(path("echo/", Echo.as_view()))
    client = MCPClient(headers={"x-client": "tests"})
    assert client.call_tool("echo").data == {"client": "tests"}


def test_the_path_chooses_the_endpoint(settings):
    urlpatterns = [
        path("elsewhere", MCPView.as_view(permission_classes=[])),
        path("echo/", Echo.as_view()),
    ]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urlpatterns})
    settings.DRF_MCP = {"EXPOSE": "urlconf"}
    assert "echo" in MCPClient(path="/elsewhere").list_tools()


def test_an_exception_of_a_view_is_raised_as_by_djangos_client(expose):
    expose(path("crash/", Crash.as_view()))
    with pytest.raises(RuntimeError, match="broken"):
        MCPClient().call_tool("crash")
    client = MCPClient(raise_request_exception=False)
    assert client.call_tool("crash").error.code == "INTERNAL_ERROR"


def test_a_response_without_json_rpc_is_described(subtests, settings):
    for view, described in [
        (RedirectView.as_view(url="/login/"), "a redirect to /login/ (HTTP 302)"),
        (lambda request: HttpResponseNotFound("<h1>No</h1>"), "text/html (HTTP 404)"),
    ]:
        with subtests.test(view=view, described=described):
            settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [path("mcp", view)]})
            with pytest.raises(MCPRefused) as refused:
                MCPClient().list_tools()
            assert str(refused.value) == f"no JSON-RPC message, but {described}"
