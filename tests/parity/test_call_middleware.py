"""CALL_MIDDLEWARE runs around each call, with the path of the API."""

from __future__ import annotations

import json
from contextvars import ContextVar

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import AsyncClient, Client
from django.urls import get_resolver, include, path
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.views import APIView

from drf_mcp.access.authentication import Caller
from drf_mcp.arguments.call import Call
from drf_mcp.dispatch.probe import REFUSALS
from drf_mcp.exposure import registry
from drf_mcp.stored.answers import StoredAnswer
from drf_mcp.test import MCPClient, assert_tool_parity
from drf_mcp.transports.in_process import LocalEndpoint
from tests.agents import Agent
from tests.parity import call_middleware as named

pytestmark = pytest.mark.django_db

HERE = "tests.parity.call_middleware"


class OfTenant(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.tenant != "others"


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class GroupList(ListAPIView):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes: list = []


class GroupDetail(RetrieveAPIView):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    permission_classes: list = []


class Orders(APIView):
    permission_classes = [OfTenant]

    def get(self, request, tenant) -> Response:
        return Response({"tenant": request.tenant, "path": request.path})

    def post(self, request, tenant) -> Response:
        raise ValidationError({"amount": ["Too much."]}, code="max_value")


class Open(APIView):
    permission_classes: list[type] = []

    def get(self, request, tenant) -> Response:
        return Response({"tenant": tenant, "user": str(request.user)})


class Rows(APIView):
    permission_classes: list[type] = []

    def get(self, request, tenant) -> Response:
        return Response({"number": number} for number in range(3))


class Crash(APIView):
    permission_classes: list[type] = []

    def get(self, request, tenant) -> Response:
        raise {"lost": LookupError, "bad": ValueError}[tenant]("secret of the view")


class Greeting(APIView):
    permission_classes: list[type] = []

    def get(self, request, language) -> Response:
        return Response(
            {
                "required": gettext_lazy("This field is required."),
                "zone": timezone.get_current_timezone_name(),
            }
        )


@pytest.fixture
def client_of(expose, settings):
    """Returns a client of the tenants' views with this middleware for calls and over HTTP."""

    def client(*names: str, **mcp_settings) -> MCPClient:
        dotted = [f"{HERE}.{name}" for name in names]
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, *dotted]
        expose(
            path("tenants/<slug:tenant>/orders/", Orders.as_view()),
            path("tenants/<slug:tenant>/open/", Open.as_view()),
            path("tenants/<slug:tenant>/rows/", Rows.as_view()),
            path("tenants/<slug:tenant>/crash/", Crash.as_view()),
            path("<slug:language>/greeting/", Greeting.as_view()),
            CALL_MIDDLEWARE=dotted,
            **mcp_settings,
        )
        named.made.clear()
        named.seen.clear()
        return MCPClient(raise_request_exception=False)

    return client


# --- Middleware that decides by path ------------------------------------------------------


@pytest.mark.parametrize("tenant", ["acme", "others", "nobody"])
def test_the_tenant_of_the_path_is_the_same_over_http_and_as_a_tool(client_of, tenant):
    client = client_of("TenantMiddleware")
    assert "tenants_orders_get" in client.list_tools()
    assert_tool_parity(client, "tenants_orders_get", {"tenant": tenant})


def test_the_tenant_is_set_with_the_middleware_and_missing_without_it(client_of, settings):
    client = client_of("TenantMiddleware")
    result = client.call_tool("tenants_orders_get", tenant="acme")
    assert result.data == {"tenant": "acme", "path": "/tenants/acme/orders/"}
    settings.DRF_MCP = {**settings.DRF_MCP, "CALL_MIDDLEWARE": []}
    assert client.call_tool("tenants_orders_get", tenant="acme").error.code == "INTERNAL_ERROR"


def test_a_page_of_the_middleware_is_an_error_without_its_html(client_of):
    result = client_of("TenantMiddleware").call_tool("tenants_orders_get", tenant="nobody")
    assert result.error.code == "NOT_FOUND"
    assert "<" not in result.error.message


@pytest.mark.parametrize("tenant", ["acme", "locked"])
def test_middleware_that_resolves_the_path_refuses_the_same_as_over_http(client_of, tenant):
    client = client_of("LockMiddleware")
    assert_tool_parity(client, "tenants_open", {"tenant": tenant})
    assert client.call_tool("tenants_open", tenant="locked").error.code == "FORBIDDEN"


@pytest.mark.parametrize("language", ["de", "fr", "en"])
def test_the_language_and_time_zone_of_the_path_are_the_same_as_over_http(client_of, language):
    assert_tool_parity(client_of("language_middleware"), "greeting", {"language": language})


def test_language_and_time_zone_are_reset_after_the_call(client_of):
    client = client_of("language_middleware")
    with translation.override("en"), timezone.override("UTC"):
        result = client.call_tool("greeting", language="de")
        assert result.data == {
            "required": "Dieses Feld ist zwingend erforderlich.",
            "zone": "Asia/Tokyo",
        }
        assert translation.get_language() == "en"
        assert timezone.get_current_timezone_name() == "UTC"


def test_a_redirect_of_the_middleware_is_the_same_as_over_http(client_of):
    client = client_of("login_middleware")
    assert_tool_parity(client, "tenants_open", {"tenant": "private"})
    result = client.call_tool("tenants_open", tenant="private")
    assert (result.is_error, result.error.code) == (True, "UNAUTHORIZED")
    assert "/login/" in str(result.envelope)


def test_before_the_view_the_user_is_that_of_the_session(client_of, settings):
    settings.REST_FRAMEWORK = {
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"]
    }
    client = client_of("login_middleware")
    client.force_login(User.objects.create_user("zoe"))
    result = client.call_tool("tenants_open", tenant="private")
    assert result.data == {"tenant": "private", "user": "zoe"}


# --- Hooks of middleware ------------------------------------------------------------------


def test_process_view_gets_the_match_of_the_call_and_may_answer(client_of):
    client = client_of("ViewMiddleware")
    result = client.call_tool("tenants_open", tenant="gone")
    assert named.seen[-1] == ("Open", (), {"tenant": "gone"}, "tenants/<slug:tenant>/open/")
    assert result.error.message == "This shop has moved."
    assert_tool_parity(client, "tenants_open", {"tenant": "gone"})


def test_process_exception_may_answer(client_of):
    client = client_of("RescueMiddleware")
    result = client.call_tool("tenants_crash", tenant="lost")
    assert result.error.code == "CONFLICT"
    assert result.error.message == "Rescued: secret of the view"
    assert_tool_parity(client, "tenants_crash", {"tenant": "lost"})


CRASHES = {
    "no middleware": ([], "INTERNAL_ERROR"),
    "middleware": (["StatusMiddleware"], "INTERNAL_ERROR"),
    "several": (["StatusMiddleware", "KeyMiddleware", "TenantMiddleware"], "INTERNAL_ERROR"),
    "asynchronous": (["async_tenant_middleware"], "INTERNAL_ERROR"),
    "a hook that leaves it": (["RescueMiddleware"], "INTERNAL_ERROR"),
    "a page of the project's": (["crash_page_middleware"], "UNAVAILABLE"),
}


@pytest.mark.parametrize(("names", "code"), CRASHES.values(), ids=CRASHES)
def test_a_crash_of_the_view_is_logged_and_signalled_once_whichever_middleware_answers(
    client_of, reported, caplog, names, code
):
    result = client_of(*names).call_tool("tenants_crash", tenant="bad")
    request_id = result.envelope["meta"]["request_id"]
    assert result.error.code == code
    assert (request_id in result.error.message) is (code == "INTERNAL_ERROR")
    assert "secret" not in str(result.raw)
    (record,) = [r for r in caplog.records if r.name == "drf_mcp"]
    assert request_id in record.getMessage()
    assert isinstance(record.exc_info[1], ValueError)
    assert [request.path for request in reported] == ["/tenants/bad/crash/"]
    statuses = [status for path, status in named.seen if path != "/mcp"]
    assert statuses == [500] * ("StatusMiddleware" in names)


def test_a_crash_of_middleware_is_logged_and_signalled_once(client_of, reported, caplog):
    client = client_of("StatusMiddleware", "broken_middleware")
    result = client.call_tool("tenants_open", tenant="broken")
    assert result.error.code == "INTERNAL_ERROR"
    assert "secret" not in str(result.raw)
    assert ("/tenants/broken/open/", 500) in named.seen
    (record,) = [r for r in caplog.records if r.name == "drf_mcp"]
    assert result.envelope["meta"]["request_id"] in record.getMessage()
    assert len(reported) == 1


def test_process_template_response_changes_the_answer(client_of):
    client = client_of("TemplateMiddleware")
    result = client.call_tool("tenants_open", tenant="acme")
    assert result.data["rendered_by"] == "template"
    assert_tool_parity(client, "tenants_open", {"tenant": "acme"})


# --- Answers ------------------------------------------------------------------------------


def test_a_body_that_the_middleware_changed_is_read(client_of):
    client = client_of("KeyMiddleware")
    result = client.call_tool("tenants_open", tenant="acme")
    assert result.data["served_by"] == "shop-1"
    assert_tool_parity(client, "tenants_open", {"tenant": "acme"})


def test_a_generator_is_not_consumed_by_middleware(client_of):
    client = client_of("TenantMiddleware")
    result = client.call_tool("tenants_rows", tenant="acme")
    assert result.data["results"] == [{"number": 0}, {"number": 1}, {"number": 2}]


@pytest.mark.parametrize(
    ("tool", "tenant", "status"),
    [
        ("tenants_open", "acme", 200),
        ("tenants_crash", "bad", 500),
        ("tenants_orders_post", "acme", 400),
        ("tenants_open", "locked", 403),
    ],
)
def test_middleware_gets_the_status_of_plain_http(client_of, tool, tenant, status):
    client = client_of("StatusMiddleware", "TenantMiddleware", "LockMiddleware")
    client.call_tool(tool, tenant=tenant)
    (inner,) = [entry for entry in named.seen if entry[0] != "/mcp"]
    assert inner[1] == status


# --- Creation of the middleware -----------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["async_tenant_middleware", "both_middleware", "AsyncHooksMiddleware"]
)
def test_asynchronous_middleware_runs_under_wsgi_and_asgi(client_of, name):
    client = client_of(name)
    expected = {"tenant": "acme", "path": "/tenants/acme/orders/"}
    assert client.call_tool("tenants_orders_get", tenant="acme").data == expected
    assert_tool_parity(client, "tenants_orders_get", {"tenant": "acme"})
    message, headers = Agent(Client()).frame(
        "tools/call", {"name": "tenants_orders_get", "arguments": {"tenant": "acme"}}
    )
    response = async_to_sync(AsyncClient().post)(
        "/mcp", json.dumps(message), content_type="application/json", headers=headers
    )
    answer = json.loads(response.content)["result"]["structuredContent"]
    assert answer["data"] == expected


def test_middleware_that_raises_middleware_not_used_is_left_out(client_of):
    client = client_of("unused_middleware", "TenantMiddleware")
    assert client.call_tool("tenants_orders_get", tenant="acme").data["tenant"] == "acme"


@pytest.mark.parametrize("name", ["NeitherMiddleware", "missing_middleware"])
def test_middleware_that_cannot_be_created_fails_the_call(client_of, settings, name):
    client = client_of()
    settings.DRF_MCP = {**settings.DRF_MCP, "CALL_MIDDLEWARE": [f"{HERE}.{name}"]}
    assert client.call_tool("tenants_open", tenant="acme").error.code == "INTERNAL_ERROR"


# --- Authentication -----------------------------------------------------------------------


def test_a_caller_without_credentials_gets_401_before_the_middleware(client_of):
    client = client_of(
        "TenantMiddleware", PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"]
    )
    agent = Agent(client)
    for tenant in ("acme", "nobody"):
        arguments = {"name": "tenants_orders_get", "arguments": {"tenant": tenant}}
        message, headers = agent.frame("tools/call", arguments)
        assert agent.post(message, headers).status_code == 401


class Broken(BaseAuthentication):
    def authenticate(self, request):
        raise ValueError("secret of the authenticator")


class Guarded(Open):
    """Show a shop to callers that authenticate."""

    authentication_classes = [Broken]


def test_if_an_authenticator_raises_the_answer_of_middleware_is_not_shown(expose, settings):
    expose(
        path("tenants/<slug:tenant>/guarded/", Guarded.as_view()),
        CALL_MIDDLEWARE=[f"{HERE}.crash_page_middleware"],
        AUTHENTICATION_CLASSES=[f"{__name__}.Broken"],
    )
    agent = Agent(Client(raise_request_exception=False))
    arguments = {"name": "tenants_guarded", "arguments": {"tenant": "acme"}}
    answer = agent.post(*agent.frame("tools/call", arguments))
    assert json.loads(answer.content)["error"]["code"] == -32603
    assert b"Ask the shop" not in answer.content


# --- Stored answers -----------------------------------------------------------------------


@pytest.mark.parametrize(("tenant", "admitted"), [("acme", True), ("locked", False)])
@pytest.mark.parametrize("route", ["orders", "open"])
def test_the_rights_to_a_stored_answer_are_checked_within_the_middleware(
    client_of, rf, route, tenant, admitted
):
    client_of("TenantMiddleware", "LockMiddleware")
    tool = registry.tool({"orders": "tenants_orders_get", "open": "tenants_open"}[route])
    request = rf.post("/mcp")
    request.user = AnonymousUser()
    answer = StoredAnswer(Caller(request, None, [], []), tool, Call({}, {"tenant": tenant}))
    if admitted:
        assert answer.find_rights() == answer.note_rights()
    else:
        with pytest.raises(REFUSALS):
            answer.find_rights()


INSIDE: ContextVar[bool] = ContextVar("inside", default=False)


def inside_middleware(get_response):
    def respond(request):
        token = INSIDE.set(True)
        try:
            return get_response(request)
        finally:
            INSIDE.reset(token)

    return respond


class RightsOfTenant(ModelBackend):
    """Gives permissions only within the middleware."""

    def get_all_permissions(self, user_obj, obj=None):
        return {"shop.view_order"} if INSIDE.get() else set()


@pytest.mark.parametrize("route", ["groups/", "groups/<int:pk>/"])
def test_the_fingerprint_of_rights_is_taken_within_the_middleware(expose, settings, route):
    expose(
        path("groups/", GroupList.as_view()),
        path("groups/<int:pk>/", GroupDetail.as_view()),
        CALL_MIDDLEWARE=[f"{__name__}.inside_middleware"],
    )
    settings.AUTHENTICATION_BACKENDS = [f"{__name__}.RightsOfTenant"]
    group = Group.objects.create(name="readers")
    tool = registry.get_tool("GET", "/groups/" if route == "groups/" else f"/groups/{group.pk}/")
    caller = LocalEndpoint().make_caller(User.objects.create_user("zoe"))
    kwargs = {} if route == "groups/" else {"pk": group.pk}
    answer = StoredAnswer(caller, tool, Call({}, kwargs))
    assert answer.note_rights() == answer.find_rights()
    answer.check(answer.note_terms())


# --- Another URLconf ----------------------------------------------------------------------


@pytest.fixture
def with_urlconf(monkeypatch):
    def give(tenant: str, *patterns) -> None:
        members = {"urlpatterns": [path("", include("drf_mcp.urls")), *patterns]}
        monkeypatch.setitem(named.URLCONFS, tenant, type("Other", (), members))

    return give


def test_a_urlconf_with_the_same_view_at_the_path_is_used(client_of, with_urlconf):
    client = client_of("urlconf_middleware", "TenantMiddleware")
    callback = get_resolver().resolve("/tenants/acme/open/").func
    with_urlconf("acme", path("tenants/<slug:tenant>/open/", callback))
    assert client.call_tool("tenants_open", tenant="acme").data["tenant"] == "acme"


def test_a_urlconf_with_another_view_or_none_at_the_path_is_not_found(client_of, with_urlconf):
    """The other view was not exposed as this tool."""
    client = client_of("urlconf_middleware", "TenantMiddleware")
    with_urlconf("acme", path("tenants/<slug:tenant>/open/", Rows.as_view()))
    assert client.call_tool("tenants_open", tenant="acme").error.code == "NOT_FOUND"
    with_urlconf("acme")
    assert client.call_tool("tenants_open", tenant="acme").error.code == "NOT_FOUND"
    assert client.call_tool("tenants_open", tenant="zeta").data["tenant"] == "zeta"
