"""Probes: a view is asked questions with the request that a call of its tool would make."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from django.urls import path
from django.views.decorators.cache import never_cache
from rest_framework import permissions, serializers
from rest_framework.authentication import BasicAuthentication, TokenAuthentication
from rest_framework.exceptions import APIException, MethodNotAllowed, PermissionDenied
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp.access.authentication import Caller
from drf_mcp.arguments.call import Call
from drf_mcp.contrib.writes.idempotency import IdempotencyKeyMixin
from drf_mcp.dispatch.list_probe import ListProbe
from drf_mcp.dispatch.probe import Intercepted, Probe
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exposure import registry
from tests.agents import Agent

pytestmark = pytest.mark.django_db

HERE = "tests.dispatch.test_probe"
COUNTED: list[str] = []


def tenant_middleware(get_response):
    def respond(request):
        if "closed" in request.path:
            return HttpResponse("<h1>Closed</h1>", status=403)
        request.tenant = "acme"
        return get_response(request)

    return respond


class OfTenant(permissions.BasePermission):
    """Allows requests without a tenant, and refuses the deletes of requests with one."""

    def has_permission(self, request, view) -> bool:
        tenant = getattr(request, "tenant", None)
        return tenant is None or request.method != "DELETE"


class NeedsTenant(permissions.BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.tenant == "acme"


class OwnAuthentication(APIView):
    """Authenticates in perform_authentication."""

    authentication_classes = []
    permission_classes = [permissions.IsAdminUser]

    def perform_authentication(self, request):
        request.user = TokenAuthentication().authenticate(request)[0]

    def get(self, request):
        return Response(request.user.username)


def test_a_view_that_authenticates_by_itself_is_listed_for_callers_it_allows(expose, agent_of):
    expose(path("own/", OwnAuthentication.as_view()), AUTHENTICATION_CLASSES=[TokenAuthentication])
    assert agent_of("carol").call("own").data == {"result": "carol"}
    assert "own" in agent_of("carol").tools()
    assert "own" not in agent_of("alice").tools()
    assert agent_of("alice").call("own").code == "FORBIDDEN"


class Counting(BaseThrottle):
    def allow_request(self, request, view) -> bool:
        COUNTED.append(request.path)
        return True


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class GroupViewSet(ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    authentication_classes: list[type] = []
    permission_classes: list[type] = [OfTenant]
    throttle_classes = [Counting]


class TenantGroups(GroupViewSet):
    permission_classes = [NeedsTenant]


class SignedGroups(GroupViewSet):
    """Has other authentication classes than the endpoint."""

    authentication_classes = [BasicAuthentication]
    permission_classes = [permissions.IsAuthenticated]


class StepGroups(GroupViewSet):
    """May refuse before REST framework's own steps."""

    def dispatch(self, request, *args, **kwargs):
        if request.META.get("HTTP_X_STEP") == "refuse":
            return HttpResponse(status=402)
        return super().dispatch(request, *args, **kwargs)


class ActingGroups(GroupViewSet):
    """Acts in its handler, and around it."""

    permission_classes: list[type] = []
    acted: list[str] = []

    def dispatch(self, request, *args, **kwargs):
        response = super().dispatch(request, *args, **kwargs)
        self.acted.append("dispatch")
        return response

    def finalize_response(self, request, response, *args, **kwargs):
        self.acted.append("finalize_response")
        return super().finalize_response(request, response, *args, **kwargs)

    def perform_destroy(self, instance):
        self.acted.append("destroy")


class DirectGroups(ActingGroups):
    """Calls its handler without REST framework's steps."""

    def dispatch(self, request, *args, **kwargs):
        return self.destroy(request, *args, **kwargs)


class KeyedGroups(IdempotencyKeyMixin, GroupViewSet):
    idempotency_key_required = True
    authentication_classes = [TokenAuthentication]
    permission_classes: list[type] = []


class AsyncGroups(GroupViewSet):
    """Has asynchronous handlers, as packages for asynchronous views make them."""

    @classmethod
    def as_view(cls, *args, **initkwargs):
        view = super().as_view(*args, **initkwargs)

        async def respond(request, *args, **kwargs):
            return await view(request, *args, **kwargs)

        vars(respond).update(vars(view))
        return respond

    def dispatch(self, request, *args, **kwargs):
        return self.async_dispatch(request, *args, **kwargs)

    async def async_dispatch(self, request, *args, **kwargs):
        self.headers = self.default_response_headers
        self.request = request = self.initialize_request(request, *args, **kwargs)
        try:
            await sync_to_async(self.initial)(request, *args, **kwargs)
            response = await getattr(self, request.method.lower())(request, *args, **kwargs)
        except APIException as exc:
            response = self.handle_exception(exc)
        return self.finalize_response(request, response, *args, **kwargs)

    async def alist(self, request):
        rows = await sync_to_async(
            lambda: self.get_serializer(self.get_queryset()[:1], many=True)
        )()
        return Response(await sync_to_async(lambda: rows.data)())

    async def aretrieve(self, request, pk):
        raise NotImplementedError


router = SimpleRouter()
router.register("groups", GroupViewSet)
router.register("closed", GroupViewSet, basename="closed")
router.register("tenant", TenantGroups, basename="tenant")
router.register("signed", SignedGroups, basename="signed")
router.register("steps", StepGroups, basename="steps")
router.register("acting", ActingGroups, basename="acting")
router.register("direct", DirectGroups, basename="direct")
router.register("keyed", KeyedGroups, basename="keyed")


@pytest.fixture
def probe(expose):
    """Returns a probe of a tool: ``probe(\"groups_retrieve\", {\"pk\": 1})``."""
    COUNTED.clear()
    ActingGroups.acted.clear()
    expose(
        *router.urls,
        path("async/", AsyncGroups.as_view({"get": "alist"})),
        path("decorated/<int:pk>/", never_cache(ActingGroups.as_view({"delete": "destroy"}))),
        path("async/<int:pk>/", AsyncGroups.as_view({"get": "aretrieve"})),
        AUTHENTICATION_CLASSES=[],
        CALL_MIDDLEWARE=[f"{HERE}.tenant_middleware"],
    )

    def make(name, kwargs=None, call=None, headers=None) -> Probe:
        request = RequestFactory().post("/mcp", headers=headers)
        caller = Caller(request, None, [], [])
        return ListProbe(caller, registry.tools()[name], call or Call({}, kwargs or {}))

    return make


def find_object(view, *args, **kwargs):
    return get_named_object(view)


def test_permissions_are_checked_within_call_middleware(probe):
    probe("tenant_retrieve", {"pk": "1"}).check_permissions()
    with pytest.raises(PermissionDenied):
        probe("groups_destroy", {"pk": "1"}).check_permissions()


def test_a_response_of_call_middleware_is_raised(probe):
    for kwargs in ({"pk": "1"}, {}):
        with pytest.raises(Intercepted) as raised:
            probe("closed_retrieve", kwargs).check_permissions()
        assert raised.value.status_code == 403


def test_the_object_is_that_of_the_view(probe):
    group = Group.objects.create(name="readers")
    assert probe("groups_retrieve", {"pk": str(group.pk)}).ask(find_object) == group
    with pytest.raises(Http404):
        probe("groups_retrieve", {"pk": "0"}).ask(find_object)


def refuse(*args, **kwargs):
    raise PermissionDenied


def test_no_throttle_counts_a_probe(probe):
    probe("groups_list").check_permissions()
    assert probe("groups_list").read().status == 200
    assert COUNTED == []


def test_a_read_returns_the_answer_of_the_view(probe):
    group = Group.objects.create(name="readers")
    answer = probe("tenant_retrieve", {"pk": str(group.pk)}).read()
    assert answer.content.data == {"id": group.pk, "name": "readers"}


def test_no_question_runs_a_handler_that_writes_or_code_around_it(probe):
    group = Group.objects.create(name="readers")
    acting = probe("acting_destroy", {"pk": str(group.pk)})
    for run in (acting.read, acting.run, acting.make_callback):
        with pytest.raises(MethodNotAllowed):
            run()
    acting.check_permissions()
    assert acting.ask(find_object) == group
    assert ActingGroups.acted == []
    assert Group.objects.exists()


def test_a_view_that_calls_its_handler_by_itself_is_answered_before_it_runs(probe):
    group = Group.objects.create(name="readers")
    assert probe("direct_destroy", {"pk": str(group.pk)}).ask(lambda *args, **kwargs: 1) == 1
    assert ActingGroups.acted == []


def test_a_decorated_view_that_writes_is_not_run(probe):
    with pytest.raises(MethodNotAllowed):
        probe("decorated_destroy", {"pk": "1"}).run()


def test_the_user_of_the_endpoint_request_does_not_change(probe, alice):
    alice_and_password = "Basic YWxpY2U6YWxpY2U="
    signed_probe = probe("signed_list", headers={"authorization": alice_and_password})
    before = signed_probe.caller.authenticate().user
    assert signed_probe.ask(lambda view, request: request.user.username) == "alice"
    assert signed_probe.caller.request.user is before


def test_the_list_of_tools_checks_permissions_within_call_middleware(probe):
    caller, tools = probe("groups_list").caller, registry.tools()
    seen = {tool.name for tool in Visibility(caller).of(tools.values())}
    assert {"tenant_list", "tenant_destroy", "groups_list"} <= seen
    assert "groups_destroy" not in seen


@pytest.fixture
def serve_alice(probe, agent_of, settings):
    """Serve the endpoint with further settings; returns alice's agent."""

    def serve(**mcp_settings) -> Agent:
        probe("groups_list")
        own = {"AUTHENTICATION_CLASSES": [TokenAuthentication], **mcp_settings}
        settings.DRF_MCP = {**settings.DRF_MCP, **own}
        registry.reload()
        return agent_of("alice")

    return serve


def test_a_replay_checks_permissions_within_call_middleware(serve_alice):
    agent = serve_alice(IDEMPOTENCY_KEYS=True)
    first = agent.call("tenant_create", name="readers", idempotency_key="once")
    again = agent.call("tenant_create", name="readers", idempotency_key="once")
    assert (again.is_error, again.data) == (False, first.data)
    assert Group.objects.filter(name="readers").count() == 1


def test_a_probe_takes_no_idempotency_key(serve_alice):
    """A step of the view around its handler would otherwise record the key."""
    group = Group.objects.create(name="readers")
    agent = serve_alice(CONFIRM=True, IDEMPOTENCY_KEYS=True)
    first = agent.call("keyed_destroy", id=group.pk, idempotency_key="once")
    assert (first.code, Group.objects.count()) == ("CONFIRMATION_REQUIRED", 1)
    again = agent.call("keyed_destroy", **first.data["next"])
    assert (again.is_error, Group.objects.count()) == (False, 0)
