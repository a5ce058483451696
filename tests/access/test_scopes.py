"""A call without a needed scope gets a challenge with the needed scopes; no other call does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import path
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import IsAuthenticated
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ReadOnlyModelViewSet

from drf_mcp.access.resources import BearerChallenge
from drf_mcp.access.scopes import ScopeDenied
from drf_mcp.exposure import mcp_viewset
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.views import MCPView
from tests.access.conftest import OAUTH
from tests.access.views import (
    WAYS,
    HasScopes,
    HasTheViewsScopes,
    Orders,
    ReaderOrWriter,
    Refunder,
    ShopLogin,
    Withheld,
    view_with,
)
from tests.agents import Agent

TOOLS = {"GET": "orders_get", "POST": "orders_post"}
CASES = [
    (way, method, needed)
    for way, (_, read, write) in WAYS.items()
    for method, needed in (("GET", read), ("POST", write))
]
METADATA = "https://shop.example/.well-known/oauth-protected-resource/mcp"


class UserSerializer(ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username"]


@pytest.fixture
def serve(expose):
    """Serve a view at ``/orders/`` with OAuth."""

    def serve(view: type, *more: Any, **settings: Any) -> None:
        usual = {**OAUTH, "AUTHENTICATION_CLASSES": [ShopLogin]}
        usual["PERMISSION_CLASSES"] = ["rest_framework.permissions.IsAuthenticated"]
        expose(path("orders/", view.as_view()), *more, **{**usual, **settings})

    return serve


def call(agent: Agent, name: str = "orders_get") -> Any:
    message, headers = agent.frame("tools/call", {"name": name, "arguments": {}})
    return agent.post(message, headers)


def get_challenge(response: Any) -> dict[str, str]:
    challenge = BearerChallenge.parse(response.headers["WWW-Authenticate"])
    assert challenge is not None
    return challenge.parameters


def code_of(response: Any) -> str:
    assert response.status_code == 200, response.content
    result = json.loads(response.content)["result"]
    return json.loads(result["content"][0]["text"])["data"].get("error_code", "")


# --- Which scopes a challenge names -------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("granted", ["nothing", "another", "a part", "all", "more"])
def test_a_call_is_challenged_if_it_lacks_nothing_but_scopes(serve, bearer, granted, subtests):
    for way, method, needed in CASES:
        with subtests.test(way=way, method=method):
            serve(WAYS[way][0])
            check_challenge(bearer, method, needed, granted)


def check_challenge(bearer, method, needed, granted) -> None:
    wanted = needed or ["orders"]
    held = {
        "nothing": [],
        "another": ["profile"],
        "a part": wanted[:-1],
        "all": wanted,
        "more": [*wanted, "profile"],
    }[granted]
    agent = bearer(scope=" ".join(held))
    status = agent.http.generic(method, "/orders/").status_code
    response = call(agent, TOOLS[method])
    if status < 400:
        assert code_of(response) == ""
    elif needed is None or set(needed) <= set(held):
        assert code_of(response) == "FORBIDDEN"
        assert "WWW-Authenticate" not in response.headers
    else:
        assert response.status_code == status == 403
        parameters = get_challenge(response)
        assert parameters.pop("error_description")
        assert parameters == {
            "error": "insufficient_scope",
            "scope": " ".join(needed),
            "resource_metadata": METADATA,
        }
        # With these scopes too, the call is allowed.
        agent = bearer(scope=" ".join([*held, *needed]))
        assert code_of(call(agent, TOOLS[method])) == ""


@pytest.mark.parametrize(("way", "method", "needed"), CASES)
def test_a_tool_is_listed_if_its_call_lacks_nothing_but_a_scope(serve, bearer, way, method, needed):
    serve(WAYS[way][0])
    assert (TOOLS[method] in bearer(scope="profile").tools()) == (needed is not None)


def test_the_error_says_which_scopes_the_call_needs(serve, bearer):
    serve(view_with(Refunder, HasScopes))
    body = json.loads(call(bearer()).content)
    assert body["error"] == {
        "code": 403,
        "message": "The token lacks a scope. This call needs: refunds:write orders.",
        "data": {"error": "insufficient_scope", "scope": "refunds:write orders"},
    }
    assert body["id"] == 7


@pytest.mark.parametrize(
    "claims", [{"scope": "a orders"}, {"scope": ["orders"]}, {"scp": "orders"}, {"scp": ["orders"]}]
)
def test_scopes_are_read_from_each_claim_and_type(serve, bearer, claims):
    serve(view_with(HasScopes))
    assert code_of(call(bearer(**claims))) == ""


def test_a_call_about_several_objects_is_challenged_as_one(serve, bearer):
    @mcp_viewset(many=True)
    class Users(ReadOnlyModelViewSet):
        authentication_classes = [ShopLogin]
        permission_classes = [HasScopes]
        required_scopes = ["users"]
        queryset = User.objects.order_by("pk")
        serializer_class = UserSerializer

    serve(Orders, path("users/<int:pk>/", Users.as_view({"get": "retrieve"})))
    pks = list(User.objects.values_list("pk", flat=True)[:2])
    agent = bearer(scope="profile")
    arguments = {"ids": pks}
    message, headers = agent.frame("tools/call", {"name": "users_retrieve", "arguments": arguments})
    assert get_challenge(agent.post(message, headers))["scope"] == "users"
    assert code_of(bearer(scope="users").post(message, headers)) == ""


def test_a_view_with_its_own_authentication_is_challenged_too(serve, bearer):
    class Elsewhere(ShopLogin):
        pass

    serve(view_with(HasScopes, authentication_classes=[Elsewhere, SessionAuthentication]))
    assert get_challenge(call(bearer(scope="profile")))["scope"] == "orders"


def test_a_refusal_behind_call_middleware_is_challenged(serve, bearer):
    middleware = "django.middleware.gzip.GZipMiddleware"
    serve(view_with(HasScopes), CALL_MIDDLEWARE=[middleware])
    assert get_challenge(call(bearer(scope="profile")))["scope"] == "orders"


# --- Refusals without a challenge ---------------------------------------------------------


def test_a_refusal_in_the_handler_is_not_challenged(serve, bearer):
    serve(Withheld)
    response = call(bearer(scope="orders"))
    assert code_of(response) == "FORBIDDEN"


def test_a_setting_names_the_scopes_of_tools(serve, bearer, settings):
    serve(Orders, TOOL_SCOPES={"refunds": ["POST *"]})
    agent = bearer(scope="orders")
    assert agent.tools().keys() == set(TOOLS.values())
    assert code_of(call(agent)) == ""
    assert get_challenge(call(agent, "orders_post"))["scope"] == "refunds"
    assert code_of(call(bearer(scope="orders refunds"), "orders_post")) == ""


def test_a_credential_without_scopes_is_not_asked_for_them(serve, issuer, db):
    views = {"authentication_classes": [TokenAuthentication]}
    own = {"AUTHENTICATION_CLASSES": [TokenAuthentication], "TOOL_SCOPES": {"refunds": ["*"]}}
    serve(type("Own", (Orders,), views), **own)
    token = Token.objects.get(user__username="alice")
    agent = Agent(Client(headers={"authorization": f"Token {token.key}"}))
    assert code_of(call(agent)) == ""


def test_without_an_authorization_server_no_call_is_challenged(serve, bearer):
    serve(view_with(HasScopes), AUTHORIZATION_SERVERS=[])
    agent = bearer(scope="profile")
    assert code_of(call(agent)) == "FORBIDDEN"
    assert "orders_get" not in agent.tools()


@pytest.mark.parametrize("keyword", ["Token", "Bearer"])
def test_a_credential_without_scopes_is_not_challenged(serve, issuer, db, keyword):
    class Keyed(TokenAuthentication):
        pass

    Keyed.keyword = keyword
    view = view_with(HasTheViewsScopes, authentication_classes=[Keyed])
    serve(view, AUTHENTICATION_CLASSES=[Keyed])
    token = Token.objects.get(user__username="alice")
    agent = Agent(Client(headers={"authorization": f"{keyword} {token.key}"}), "2025-11-25")
    assert code_of(call(agent)) == "FORBIDDEN"


def test_a_signed_in_browser_is_not_challenged(serve, issuer, db):
    view = view_with(HasTheViewsScopes, authentication_classes=[SessionAuthentication])
    serve(view, AUTHENTICATION_CLASSES=[SessionAuthentication])
    http = Client()
    http.force_login(User.objects.get(username="alice"))
    assert code_of(call(Agent(http, "2025-11-25"))) == "FORBIDDEN"


def test_a_permission_that_raises_the_second_time_is_not_challenged(serve, bearer):
    class Once(HasScopes):
        asked = 0

        def has_permission(self, request: Any, view: Any) -> bool:
            Once.asked += 1
            if Once.asked > 1:
                raise LookupError
            return False

    serve(view_with(Once))
    assert code_of(call(bearer())) == "FORBIDDEN"
    assert Once.asked == 2


# --- The endpoint's own scopes ------------------------------------------------------------


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "ping", "initialize"])
def test_every_method_needs_the_scopes_of_the_endpoint(serve, bearer, method):
    serve(Orders, SCOPES=["shop"])
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    params = {"name": "orders_get", "arguments": {}} if method == "tools/call" else params
    message, headers = bearer(scope="orders").frame(method, params)
    response = bearer(scope="orders").post(message, headers)
    assert response.status_code == 403
    assert get_challenge(response)["error"] == "insufficient_scope"
    assert get_challenge(response)["scope"] == "shop"
    assert bearer(scope="orders shop").post(message, headers).status_code == 200


def test_a_permission_of_the_endpoint_may_require_scopes(serve, bearer, settings):
    class StaffView(MCPView):
        permission_classes = [IsAuthenticated, HasScopes]
        required_scopes = ["agents"]

    serve(Orders, path("staff/mcp", StaffView.as_view()))
    agent = bearer(scope="orders")
    agent.path = "/staff/mcp"
    response = call(agent)
    assert response.status_code == 403
    assert get_challenge(response)["scope"] == "agents"
    allowed = bearer(scope="agents")
    allowed.path = "/staff/mcp"
    assert code_of(call(allowed)) == ""


def test_scopes_are_needed_without_an_authorization_server(serve, bearer):
    serve(Orders, SCOPES=["shop"], AUTHORIZATION_SERVERS=[])
    response = call(bearer(scope="orders"))
    assert response.status_code == 403
    assert "WWW-Authenticate" not in response.headers
    assert code_of(call(bearer(scope="shop"))) == ""


def test_the_in_process_client_needs_the_scopes_too(serve, issuer, db):
    serve(Orders, SCOPES=["shop"])
    for scope, status in (("orders", 403), ("shop", None)):
        caller = LocalEndpoint().make_caller(authorization=f"Bearer {issuer.sign(scope=scope)}")
        if status:
            with pytest.raises(ScopeDenied):
                caller.authenticate()
        else:
            assert caller.authenticate().user.username == "alice"


# --- HasScopes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "scopes", "status"),
    [
        ("GET", "orders:read", 200),
        ("HEAD", "orders:read", 200),
        ("GET", "orders:write", 403),
        ("POST", "orders:write", 201),
        ("OPTIONS", "orders:read orders:write", 403),
    ],
)
def test_scopes_by_method_allow_no_other_method(serve, bearer, method, scopes, status):
    serve(view_with(ReaderOrWriter))
    response = bearer(scope=scopes).http.generic(method, "/orders/")
    assert response.status_code == status
