"""A token opens the resource that it was requested for: the endpoint and its tools."""

from __future__ import annotations

import json

import pytest
from django.urls import include, path
from oauth2_provider.models import get_access_token_model, get_refresh_token_model
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from drf_mcp.views import MCPView
from tests.contrib.oauth.conftest import ENDPOINT, HOST, Orders, Project, parameters_of

EVERYTHING = f"https://{HOST}"
# Spellings of the host alone.
HOSTS = [
    *(
        EVERYTHING,
        f"{EVERYTHING}/",
        f"{EVERYTHING}:443",
        f"{EVERYTHING}/?mcp",
        "HTTPS://SHOP.example",
    ),
    f"{ENDPOINT}/..",
    "http://[",
]


class Anyone(Orders):
    """Shows whether the token was accepted."""

    permission_classes = [AllowAny]
    http_method_names = ["get"]

    def get(self, request):
        return Response({"accepted": request.auth is not None})


def status_of(project: Project, token: str, path: str = "/orders/", method: str = "get") -> int:
    browser = project.make_browser(None)
    send = getattr(browser, method)
    return send(path, headers={"authorization": f"Bearer {token}"}).status_code


def resources() -> list[str]:
    """Return the resources of the newest token."""
    return get_access_token_model().objects.latest("pk").resource


def test_a_token_for_the_endpoint_calls_its_tools(project):
    agent = project.agent(project.create_token())
    assert agent.call("orders_get").data == {"by": "ada"}


def test_a_token_for_the_endpoint_is_refused_by_the_api(project):
    assert status_of(project, project.create_token()) == 401


@pytest.mark.parametrize("resource", ["https://evil.example/mcp", "https://shop.example/other"])
def test_a_token_for_another_resource_is_refused(project, resource):
    token = project.create_token(resource)
    assert (project.list_tools(token), status_of(project, token)) == (401, 401)


def test_a_token_of_one_endpoint_is_refused_at_another(configure, db):
    configure(path("staff/mcp", MCPView.as_view()))
    project = Project()
    token = project.create_token()
    assert project.list_tools(token) == 200
    assert project.list_tools(token, "/staff/mcp") == 401


def test_a_token_in_the_query_string_is_refused(project):
    token = project.create_token(None)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    browser = project.make_browser(None)
    response = browser.post(f"/mcp?access_token={token}", message, "application/json")
    assert response.status_code == 401


def test_a_client_gets_a_token_for_the_endpoint(project):
    token = project.sign_in()["access_token"]
    assert resources() == [ENDPOINT]
    assert (project.list_tools(token), status_of(project, token)) == (200, 401)


# --- No resource, or a resource beyond the endpoint ---------------------------------------------


def test_a_client_that_names_no_resource_gets_a_token_for_tools(project):
    token = project.sign_in(resource=None)["access_token"]
    assert resources() == [ENDPOINT]
    assert project.agent(token).call("orders_get").data == {"by": "ada"}
    assert (status_of(project, token), status_of(project, token, method="delete")) == (401, 401)


@pytest.mark.parametrize("resource", HOSTS)
def test_no_token_is_issued_for_the_whole_host(project, resource):
    answer = parameters_of(project.authorize(resource=resource))
    assert (answer["error"], "code" in answer) == ("invalid_target", False)


@pytest.mark.parametrize(
    ("resource", "made"),
    [("", [ENDPOINT]), (EVERYTHING, None), ("https://evil.example/mcp", None)],
)
def test_a_changed_form_gets_no_token_for_another_resource(project, resource, made):
    page = project.authorize()
    filled = {**page.context["form"].initial, "resource": resource, "allow": "true"}
    sent = {name: value or "" for name, value in filled.items()}
    answer = parameters_of(project.browser.post(page.wsgi_request.get_full_path(), sent))
    if made is None:
        assert answer["error"] == "invalid_target"
    else:
        project.exchange(answer["code"], resource=None)
        assert resources() == made


@pytest.mark.parametrize("resource", [EVERYTHING, f"{EVERYTHING}/orders/"])
def test_a_code_gives_no_token_for_another_resource(project, resource):
    answer = project.exchange(project.consent(resource=None)["code"], resource=resource)
    assert json.loads(answer.content)["error"] == "invalid_target"


@pytest.mark.parametrize("resource", [EVERYTHING, f"{EVERYTHING}/orders/", None])
def test_an_older_token_opens_tools_and_nothing_else(project, resource):
    token = project.create_token(resource)
    tools = 401 if resource and resource.endswith("/orders/") else 200
    assert (project.list_tools(token), status_of(project, token)) == (tools, 401)
    assert status_of(project, token, method="delete") == 401


def test_a_token_refused_over_http_is_answered_with_the_reason(project):
    headers = {"authorization": f"Bearer {project.create_token(None)}"}
    answer = project.make_browser(None).get("/orders/", headers=headers)
    assert "The access token is for another resource." in answer["WWW-Authenticate"]


@pytest.mark.parametrize("asked", [None, EVERYTHING])
def test_the_setting_resource_lets_tokens_open_the_whole_host(project, settings, asked):
    settings.DRF_MCP = {**settings.DRF_MCP, "RESOURCE": EVERYTHING}
    assert (
        f"Everything else below <strong>{EVERYTHING}"
        in project.authorize(resource=asked).content.decode()
    )
    token = project.sign_in(resource=asked)["access_token"]
    assert resources() == [EVERYTHING]
    assert (project.list_tools(token), status_of(project, token)) == (200, 200)


@pytest.mark.slow
def test_a_token_for_an_endpoint_above_the_api_opens_only_tools(configure, db):
    configure(path("shop", MCPView.as_view()), path("shop/orders/", Orders.as_view()))
    project = Project()
    token = project.sign_in(resource=f"{EVERYTHING}/shop")["access_token"]
    assert project.list_tools(token, "/shop") == 200
    assert status_of(project, token, "/shop/orders/") == 401


def test_a_token_without_a_user_and_a_resource_opens_the_api(configure, db):
    configure(path("anyone/", Anyone.as_view()))
    project = Project()
    project.user, ada = None, project.user
    headers = {"authorization": f"Bearer {project.create_token(None)}"}
    assert project.make_browser(None).get("/anyone/", headers=headers).json() == {"accepted": True}
    project.user = ada
    headers = {"authorization": f"Bearer {project.create_token(None)}"}
    assert project.make_browser(None).get("/anyone/", headers=headers).json() == {"accepted": False}


# --- Refresh tokens -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("asked", [None, ENDPOINT])
def test_a_refreshed_token_is_for_the_same_endpoint(project, asked):
    first = project.sign_in(resource=asked)
    second = project.refresh(first["refresh_token"])
    assert resources() == [ENDPOINT]
    token = second["access_token"]
    assert (project.list_tools(token), status_of(project, token)) == (200, 401)
    third = project.refresh(second["refresh_token"], resource=ENDPOINT)
    assert project.list_tools(third["access_token"]) == 200
    wider = project.refresh(third["refresh_token"], resource=EVERYTHING)
    assert wider["error"] == "invalid_target"


@pytest.mark.parametrize("kept", [[], [EVERYTHING]])
@pytest.mark.parametrize(
    "asked", [{}, {"resource": f"{EVERYTHING}/orders/"}, {"resource": EVERYTHING}]
)
def test_an_older_refresh_token_opens_no_api(project, kept, asked):
    first = project.sign_in()
    get_refresh_token_model().objects.update(resource=kept)
    made = project.refresh(first["refresh_token"], **asked)
    assert "access_token" not in made or status_of(project, made["access_token"]) == 401


# --- Several endpoints --------------------------------------------------------------------------


@pytest.fixture
def endpoints(configure, settings, db) -> Project:
    configure(
        path("staff/mcp", MCPView.as_view(read_only=True)),
        path("mcp/", include("drf_mcp.urls.toolsets")),
    )
    settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"notes": ["notes_*"]}}
    return Project()


def test_without_a_resource_a_token_is_for_each_endpoint_that_the_page_shows(endpoints):
    token = endpoints.sign_in(resource=None)["access_token"]
    assert resources() == [ENDPOINT, f"{EVERYTHING}/staff/mcp"]
    assert endpoints.list_tools(token, "/staff/mcp") == 200
    assert status_of(endpoints, token) == 401


@pytest.mark.parametrize(
    ("place", "tools"),
    [
        ("/mcp/readonly", {"orders_get"}),
        ("/mcp/x/notes", {"notes_create"}),
        ("/staff/mcp", {"orders_get"}),
        ("/mcp/x/nothing", set()),
    ],
)
def test_a_token_for_fewer_tools_opens_those_that_the_page_shows(endpoints, place, tools):
    resource = f"{EVERYTHING}{place}"
    page = endpoints.authorize(resource=resource)
    assert {tool.name for tool in page.context["tools"]} == tools
    token = endpoints.sign_in(resource=resource)["access_token"]
    assert endpoints.list_tools(token, place) == (200 if tools else 404)
    assert (endpoints.list_tools(token), status_of(endpoints, token)) == (401, 401)
