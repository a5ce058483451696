"""A token is good where it was asked for: at the endpoint, and in its tools."""

from __future__ import annotations

import json

import pytest
from django.urls import include, path
from oauth2_provider.models import get_access_token_model, get_refresh_token_model
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from drf_mcp.transports.in_process import LocalEndpoint
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
]


class Anyone(Orders):
    """Says whether a token was taken."""

    permission_classes = [AllowAny]
    http_method_names = ["get"]

    def get(self, request):
        return Response({"taken": request.auth is not None})


def api(project: Project, token: str, path: str = "/orders/", method: str = "get") -> int:
    browser = project.make_browser(None)
    send = getattr(browser, method)
    return send(path, headers={"authorization": f"Bearer {token}"}).status_code


def resources() -> list[str]:
    """Return what the newest token is for."""
    return get_access_token_model().objects.latest("pk").resource


def test_a_token_for_the_endpoint_calls_its_tools(project):
    agent = project.agent(project.give())
    assert agent.call("orders_get").data == {"by": "ada"}


def test_a_token_for_the_endpoint_is_refused_by_the_api(project):
    assert api(project, project.give()) == 401


@pytest.mark.parametrize("resource", ["https://evil.example/mcp", "https://shop.example/other"])
def test_a_token_for_another_resource_is_refused(project, resource):
    token = project.give(resource)
    assert (project.list_tools(token), api(project, token)) == (401, 401)


def test_a_token_of_one_endpoint_is_refused_at_another(configure, db):
    configure(path("staff/mcp", MCPView.as_view()))
    project = Project()
    token = project.give()
    assert project.list_tools(token) == 200
    assert project.list_tools(token, "/staff/mcp") == 401


def test_an_argument_is_no_token(project):
    token = project.give()
    params = {"name": "orders_post", "arguments": {"access_token": token}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    browser = project.make_browser(None)
    assert browser.post("/mcp", message, "application/json").status_code == 401


def test_a_token_in_the_address_is_refused(project):
    token = project.give(None)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    browser = project.make_browser(None)
    response = browser.post(f"/mcp?access_token={token}", message, "application/json")
    assert response.status_code == 401


def test_clients_get_tokens_for_the_endpoint(project):
    token = project.sign_in()["access_token"]
    assert (project.list_tools(token), api(project, token)) == (200, 401)


def test_the_endpoint_itself_is_named_in_the_token(project):
    project.sign_in()
    assert resources() == [ENDPOINT]


# --- Without a resource, or for more than the endpoint ------------------------------------------


def test_a_client_that_names_no_resource_gets_a_token_for_tools(project):
    token = project.sign_in(resource=None)["access_token"]
    assert resources() == [ENDPOINT]
    assert project.agent(token).call("orders_get").data == {"by": "ada"}
    assert (api(project, token), api(project, token, method="delete")) == (401, 401)


def test_a_client_that_the_project_trusts_gets_no_more(project):
    project.register(registration_source="manual", skip_authorization=True)
    code = parameters_of(project.ask(resource=None))["code"]
    token = project.exchange(code, resource=None).json()["access_token"]
    assert (resources(), api(project, token)) == ([ENDPOINT], 401)


@pytest.mark.parametrize("resource", HOSTS)
def test_no_token_is_given_out_for_the_whole_host(project, resource):
    answer = parameters_of(project.ask(resource=resource))
    assert (answer["error"], "code" in answer) == ("invalid_target", False)


@pytest.mark.parametrize(("resource", "made"), [("", [ENDPOINT]), (EVERYTHING, None)])
def test_a_changed_form_gets_no_token_for_more(project, resource, made):
    page = project.ask()
    filled = {**page.context["form"].initial, "resource": resource, "allow": "true"}
    sent = {name: value or "" for name, value in filled.items()}
    answer = parameters_of(project.browser.post(page.wsgi_request.get_full_path(), sent))
    if made is None:
        assert answer["error"] == "invalid_target"
    else:
        project.exchange(answer["code"], resource=None)
        assert resources() == made


@pytest.mark.parametrize("resource", [EVERYTHING, f"{EVERYTHING}/orders/"])
def test_a_code_gives_no_token_for_more_than_was_consented_to(project, resource):
    answer = project.exchange(project.consent(resource=None)["code"], resource=resource)
    assert json.loads(answer.content)["error"] == "invalid_target"


@pytest.mark.parametrize("resource", [EVERYTHING, f"{EVERYTHING}/orders/", None])
def test_a_token_from_before_opens_tools_and_nothing_else(project, resource):
    token = project.give(resource)
    tools = 401 if resource and resource.endswith("/orders/") else 200
    assert (project.list_tools(token), api(project, token)) == (tools, 401)
    assert api(project, token, method="delete") == 401


def test_the_answer_over_http_says_what_the_token_is_for(project):
    headers = {"authorization": f"Bearer {project.give(None)}"}
    answer = project.make_browser(None).get("/orders/", headers=headers)
    assert "The access token is for another resource." in answer["WWW-Authenticate"]


@pytest.mark.parametrize("asked", [None, EVERYTHING])
def test_resource_says_that_tokens_open_the_whole_host(project, settings, asked):
    settings.DRF_MCP = {**settings.DRF_MCP, "RESOURCE": EVERYTHING}
    assert (
        f"Everything else below <strong>{EVERYTHING}"
        in project.ask(resource=asked).content.decode()
    )
    token = project.sign_in(resource=asked)["access_token"]
    assert resources() == [EVERYTHING]
    assert (project.list_tools(token), api(project, token)) == (200, 200)


def test_resource_holds_for_a_token_from_before_as_well(project, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "RESOURCE": EVERYTHING}
    assert api(project, project.give(None)) == 200
    assert api(project, project.give(ENDPOINT)) == 401


def test_the_page_speaks_of_nothing_beyond_the_endpoint_otherwise(project):
    assert "Everything else below" not in project.ask().content.decode()


@pytest.mark.slow
def test_an_endpoint_above_the_api_opens_tools_alone(configure, db):
    configure(path("shop", MCPView.as_view()), path("shop/orders/", Orders.as_view()))
    project = Project()
    token = project.sign_in(resource=f"{EVERYTHING}/shop")["access_token"]
    assert project.list_tools(token, "/shop") == 200
    assert api(project, token, "/shop/orders/") == 401


def test_a_door_of_this_process_takes_a_token_wherever_the_endpoint_is(project, settings):
    urls = [path("agents/", include("drf_mcp.urls"))]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    caller = LocalEndpoint().make_caller(authorization=f"Bearer {project.give(None)}")
    assert caller.authenticate().user == project.user


def test_a_programs_own_token_is_the_projects_affair(configure, db):
    """Nobody consented to it, and no resource was asked for."""
    configure(path("anyone/", Anyone.as_view()))
    project = Project()
    project.user, ada = None, project.user
    headers = {"authorization": f"Bearer {project.give(None)}"}
    assert project.make_browser(None).get("/anyone/", headers=headers).json() == {"taken": True}
    project.user = ada
    headers = {"authorization": f"Bearer {project.give(None)}"}
    assert project.make_browser(None).get("/anyone/", headers=headers).json() == {"taken": False}


# --- Refreshed ----------------------------------------------------------------------------------


def refresh(project: Project, token: str, **changed) -> dict:
    sent = {"grant_type": "refresh_token", "client_id": "agent", "refresh_token": token, **changed}
    return json.loads(project.make_browser(None).post("/o/token/", sent).content)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [None, ENDPOINT])
def test_a_refreshed_token_is_for_the_same_endpoint(project, asked):
    first = project.sign_in(resource=asked)
    second = refresh(project, first["refresh_token"])
    assert resources() == [ENDPOINT]
    assert (project.list_tools(second["access_token"]), api(project, second["access_token"])) == (
        200,
        401,
    )
    third = refresh(project, second["refresh_token"], resource=ENDPOINT)
    assert project.list_tools(third["access_token"]) == 200
    wider = refresh(project, third["refresh_token"], resource=EVERYTHING)
    assert wider["error"] == "invalid_target"


@pytest.mark.parametrize("kept", [[], [EVERYTHING]])
@pytest.mark.parametrize(
    "asked", [{}, {"resource": f"{EVERYTHING}/orders/"}, {"resource": EVERYTHING}]
)
def test_a_refresh_token_from_before_opens_no_api(project, kept, asked):
    first = project.sign_in()
    get_refresh_token_model().objects.update(resource=kept)
    made = refresh(project, first["refresh_token"], **asked)
    assert "access_token" not in made or api(project, made["access_token"]) == 401


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
    assert api(endpoints, token) == 401


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
    page = endpoints.ask(resource=resource)
    assert {tool.name for tool in page.context["tools"].tools} == tools
    token = endpoints.sign_in(resource=resource)["access_token"]
    assert endpoints.list_tools(token, place) == (200 if tools else 404)
    assert (endpoints.list_tools(token), api(endpoints, token)) == (401, 401)
