"""The checks of the endpoints: who can reach them."""

from __future__ import annotations

import pytest
from django.urls import include, path
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    TokenAuthentication,
)
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from drf_mcp.access.jwt import JWTAuthentication
from drf_mcp.exposure import mcp_tool
from drf_mcp.views import MCPView

HERE = "tests.checks.middleware"


@pytest.fixture
def serve(settings):
    def patterns(*urlpatterns, **mcp_settings) -> None:
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": list(urlpatterns)})
        settings.DRF_MCP = mcp_settings

    return patterns


# --- Middleware ---------------------------------------------------------------------------

REDIRECTING = [
    "RequireLogin",
    "ForcePasswordChangeMiddleware",
    "OwnLoginRequiredMiddleware",
    "login_required_middleware",
]
OTHERS = [
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.auth.middleware.RemoteUserMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    f"{HERE}.HouseLoginRequiredMiddleware",
    f"{HERE}.AuthenticationMiddleware",
    f"{HERE}.BearerAuthMiddleware",
    "nowhere.LoginRequiredMiddleware",
]


@pytest.mark.slow
@pytest.mark.usefixtures("bare_project")
def test_middleware_that_redirects_is_reported_with_the_paths_to_exempt(settings, found, serve):
    """Other middleware is not named, and without an endpoint no middleware is."""
    serve(path("mcp", MCPView.as_view()), path("staff/mcp", MCPView.as_view()))
    installed = settings.MIDDLEWARE
    for name in REDIRECTING:
        settings.MIDDLEWARE = [*installed, f"{HERE}.{name}"]
        (warning,) = found("drf_mcp.W002")
        assert warning.msg.startswith(f"{HERE}.{name} seems to redirect requests")
        assert warning.hint.startswith("Exempt /mcp, /staff/mcp in that middleware")
    for name in OTHERS:
        settings.MIDDLEWARE = [*installed, name]
        assert found("drf_mcp.W002") == []
    serve()
    settings.MIDDLEWARE = [f"{HERE}.RequireLogin", "tests.checks.path_middleware.ReadsPath"]
    assert found("drf_mcp.W002") == found("drf_mcp.W013") == []


# --- Anonymous callers --------------------------------------------------------------------


@pytest.mark.slow
def test_an_open_endpoint_is_reported_before_deployment(found, serve):
    for classes in ([], ["rest_framework.permissions.AllowAny"]):
        serve(path("", include("drf_mcp.urls")), PERMISSION_CLASSES=classes)
        (warning,) = found("drf_mcp.W006", deploy=True)
        assert warning.msg == "The MCP endpoint /mcp is open to anonymous callers."
        assert found("drf_mcp.W006") == []


def test_the_check_reads_the_permissions_of_each_endpoint(found, serve):
    inner = ([path("open", MCPView.as_view(permission_classes=[AllowAny]))], "agents")
    serve(
        path("agents/", include(inner)),
        path("staff", MCPView.as_view(permission_classes=[IsAdminUser])),
        path("mcp", MCPView.as_view()),
    )
    (warning,) = found("drf_mcp.W006", deploy=True)
    assert "/agents/open" in warning.msg


# --- Limits -------------------------------------------------------------------------------


class Slow(APIView):
    def get(self, request):
        return Response({})


@pytest.mark.slow
def test_tools_without_a_time_limit_are_reported_before_deployment(found, serve):
    slow = mcp_tool()(type("Slow", (Slow,), {}))
    unlimited = mcp_tool(time_limit=0)(type("Unlimited", (Slow,), {}))
    views = [path("unlimited/", unlimited.as_view()), path("slow/", slow.as_view())]
    serve(path("", include("drf_mcp.urls")), *views)
    (warning,) = found("drf_mcp.W032", deploy=True)
    assert "such as calls of slow:" in warning.msg
    assert found("drf_mcp.W032") == []
    serve(path("", include("drf_mcp.urls")), *views, TIME_LIMIT=30)
    assert found("drf_mcp.W032", deploy=True) == []
    serve(path("", include("drf_mcp.urls")), *views[:1])
    assert found("drf_mcp.W032", deploy=True) == []
    serve(*views)
    assert found("drf_mcp.W032", deploy=True) == []


@pytest.mark.slow
def test_an_endpoint_without_a_throttle_is_reported_before_deployment(found, serve, settings):
    patterns = [
        path("mcp", MCPView.as_view()),
        path("other", MCPView.as_view()),
        path("counted", MCPView.as_view(throttle_classes=[UserRateThrottle])),
    ]
    serve(*patterns)
    (warning,) = found("drf_mcp.W033", deploy=True)
    assert "a caller of /mcp, /other calls tools" in warning.msg
    assert found("drf_mcp.W033") == []
    serve(*patterns, THROTTLE_CLASSES=["rest_framework.throttling.UserRateThrottle"])
    assert found("drf_mcp.W033", deploy=True) == []
    serve(*patterns)
    throttled = {"DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"]}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, **throttled}
    assert found("drf_mcp.W033", deploy=True) == []


class HeaderAuthentication(BaseAuthentication):
    """An authentication class of the project, without a challenge."""


@pytest.mark.slow
def test_an_endpoint_without_authentication_by_header_is_reported(found, serve):
    """An endpoint that allows anonymous callers is not reported."""
    rows = [
        ([SessionAuthentication], True),
        ([], True),
        ([SessionAuthentication, TokenAuthentication], False),
        ([SessionAuthentication, HeaderAuthentication], False),
    ]
    for classes, reported in rows:
        serve(path("mcp", MCPView.as_view(authentication_classes=classes)))
        messages = [warning.msg for warning in found("drf_mcp.W034")]
        assert any("No authentication class of /mcp reads" in text for text in messages) is reported
        serve(path("mcp", MCPView.as_view(authentication_classes=classes, permission_classes=[])))
        assert found("drf_mcp.W034") == []


class Private(APIView):
    permission_classes = [IsAuthenticated]

    def get(self, request):
        return Response({})


@pytest.mark.parametrize(
    ("endpoint", "view", "reported"),
    [
        ([TokenAuthentication], {"authentication_classes": [SessionAuthentication]}, True),
        ([TokenAuthentication], {"authentication_classes": [TokenAuthentication]}, False),
        ([TokenAuthentication], {"authentication_classes": []}, False),
        ([SessionAuthentication], {"authentication_classes": [SessionAuthentication]}, False),
    ],
)
def test_views_with_sessions_alone_are_reported_if_the_endpoint_accepts_more(
    expose, found, endpoint, view, reported
):
    own = type("Own", (Private,), view)
    expose(path("own/", own.as_view()), AUTHENTICATION_CLASSES=endpoint)
    messages = [warning.msg for warning in found("drf_mcp.W036")]
    assert [
        message.startswith("The views of these tools take sessions alone: own.")
        for message in messages
    ] == [True] * reported


def test_open_views_with_sessions_alone_are_not_reported(expose, found):
    own = type(
        "Own",
        (Private,),
        {"permission_classes": [AllowAny], "authentication_classes": [SessionAuthentication]},
    )
    expose(path("own/", own.as_view()), AUTHENTICATION_CLASSES=[TokenAuthentication])
    assert found("drf_mcp.W036") == []


# --- Any host -----------------------------------------------------------------------------


@pytest.mark.usefixtures("bare_project")
def test_any_host_is_reported_before_deployment(settings, found, serve):
    settings.ALLOWED_HOSTS = ["*"]
    (warning,) = found("drf_mcp.W008", deploy=True)
    assert "rebinding" in warning.msg
    serve()
    assert found("drf_mcp.W008", deploy=True) == []


# --- OAuth --------------------------------------------------------------------------------

SERVERS = {"AUTHORIZATION_SERVERS": ["https://login.shop.example"]}


@pytest.mark.slow
def test_metadata_without_its_urls_is_reported(found, serve):
    for pattern in (
        path("mcp", MCPView.as_view()),
        path("agents/", include("drf_mcp.urls")),
        path("a/", include([path("mcp/", MCPView.as_view())])),
    ):
        serve(pattern, **SERVERS)
        (warning,) = found("drf_mcp.W018")
        assert 'include("drf_mcp.access.urls")' in warning.hint
        serve(pattern, path("", include("drf_mcp.access.urls")), **SERVERS)
        assert found("drf_mcp.W018") == []


def test_metadata_behind_a_pattern_that_matches_every_path_is_reported(found, serve):
    everything = path("<path:page>", lambda request, page: None)
    usual = path("", include("drf_mcp.urls"))
    serve(everything, usual, **SERVERS)
    assert len(found("drf_mcp.W018")) == 1
    serve(usual, everything, **SERVERS)
    assert found("drf_mcp.W018") == []


def test_metadata_is_required_for_an_endpoint_with_an_authorization_server(found, serve):
    serve(path("mcp", MCPView.as_view()))
    assert found("drf_mcp.W018") == []
    servers = SERVERS["AUTHORIZATION_SERVERS"]
    serve(path("staff", MCPView.as_view(authorization_servers=servers)))
    (warning,) = found("drf_mcp.W018")
    assert "/.well-known/oauth-protected-resource/staff" in warning.msg


def test_an_endpoint_with_path_arguments_is_not_reported(found, serve):
    serve(path("<slug:tenant>/mcp", MCPView.as_view()), **SERVERS)
    assert found("drf_mcp.W018") == []


@pytest.mark.slow
def test_tokens_of_the_toolkit_that_views_refuse_are_reported(found, serve):
    """Tokens of another class are valid for every view."""
    shop = "https://shop.example"
    warnings = {None: 1, f"{shop}/mcp": 1, shop: 0, f"{shop}/": 0}
    toolkit = {"AUTHENTICATION_CLASSES": [OAuth2Authentication]}
    reported = {}
    for resource in warnings:
        serve(path("", include("drf_mcp.urls")), **SERVERS, **toolkit, RESOURCE=resource)
        reported[resource] = len(found("drf_mcp.W019"))
    assert reported == warnings
    serve(path("", include("drf_mcp.urls")), **SERVERS)
    assert found("drf_mcp.W019") == []


class BearerToken(TokenAuthentication):
    keyword = "Bearer"


@pytest.mark.slow
def test_tokens_without_an_authentication_class_are_reported(found, serve):
    rows = [
        ([SessionAuthentication, TokenAuthentication], 1),
        ([], 1),
        ([OAuth2Authentication], 0),
        ([SessionAuthentication, BearerToken], 0),
        ([JWTAuthentication], 0),
    ]
    for classes, warnings in rows:
        serve(path("", include("drf_mcp.urls")), **SERVERS, AUTHENTICATION_CLASSES=classes)
        assert len(found("drf_mcp.W020")) == warnings
        serve(path("", include("drf_mcp.urls")), AUTHENTICATION_CLASSES=classes)
        assert found("drf_mcp.W020") == []
