"""A view that overrides steps before its handler sees the caller of HTTP."""

from __future__ import annotations

import pytest
from django.urls import path
from rest_framework import viewsets
from rest_framework.authentication import BaseAuthentication, BasicAuthentication
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.test import APIClient

from tests.agents import Agent
from tests.parity.probes import KeyAuthentication, Probe, identity

STEPS = ("initial", "dispatch", "initialize_request", "setup", "perform_authentication")


def call_super(step):
    def method(self, request, *args, **kwargs):
        return getattr(super(self.own, self), step)(request, *args, **kwargs)

    return method


def make_probe(*steps, base=Probe, look=identity, **members):
    """Return a probe that overrides steps by calling those of REST framework."""
    own = {step: call_super(step) for step in steps}
    probe = base.looking(look, **{"authentication_classes": [KeyAuthentication], **own, **members})
    probe.own = probe
    return probe


def make_key_client(key="alice read write") -> APIClient:
    return APIClient(headers={"x-key": key} if key else {})


@pytest.fixture
def keys(monkeypatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(KeyAuthentication, "calls", calls)
    return calls


@pytest.fixture
def serve(db, expose):
    def serve(probe, classes=(KeyAuthentication,), permissions=(IsAuthenticated,), **options):
        target = probe if not isinstance(probe, type) else probe.as_view(**options)
        expose(
            path("probe/", target),
            AUTHENTICATION_CLASSES=list(classes),
            PERMISSION_CLASSES=list(permissions),
        )
        return probe

    return serve


def send(key, tool="probe_get", arguments=None):
    agent = Agent(make_key_client(key))
    return agent.post(*agent.frame("tools/call", {"name": tool, "arguments": arguments or {}}))


@pytest.mark.parametrize("key", ["alice read", "machine read", None])
def test_the_view_finds_the_caller_by_several_authentication_classes(serve, key):
    classes = [BasicAuthentication, KeyAuthentication]
    probe = make_probe("initial", authentication_classes=classes)
    serve(probe, classes, [AllowAny])
    make_key_client(key).get("/probe/")
    Agent(make_key_client(key)).call_with("probe_get", {})
    assert probe.seen[0] == probe.seen[1]


def test_a_viewset_has_all_attributes_that_its_router_gives_it(db, expose):
    seen = []

    class Things(viewsets.ViewSet):
        permission_classes = [AllowAny]
        authentication_classes = [KeyAuthentication]

        def dispatch(self, request, *args, **kwargs):
            facts = (self.action_map, self.basename, self.detail, self.args, self.kwargs)
            seen.append((*facts, self.get.__name__, self.head.__name__))
            return super().dispatch(request, *args, **kwargs)

        def retrieve(self, request, pk):
            seen.append((self.action, self.request is request, pk))
            return Response({})

    router = SimpleRouter()
    router.register("things", Things, basename="thing")
    expose(*router.urls, AUTHENTICATION_CLASSES=[KeyAuthentication])
    Agent(make_key_client()).call_with("things_retrieve", {"pk": "7"})
    over_mcp, seen[:] = list(seen), []
    make_key_client().get("/things/7/")
    assert over_mcp == seen


@pytest.mark.parametrize(("key", "status"), [("banned", 403), ("nobody", 401), (None, 401)])
def test_nothing_of_the_view_runs_before_the_endpoint_admits_the_caller(serve, keys, key, status):
    ran = []

    def note(self, *args, **kwargs):
        ran.append(self)
        super(self.own, self).__init__(*args, **kwargs)

    serve(make_probe("dispatch", "setup", __init__=note))
    # Describing the tool makes an instance as well.
    send("alice read")
    del keys[:], ran[:]
    response = send(key)
    assert (response.status_code, ran) == (status, [])
    assert len(keys) == (key is not None)
    assert ("WWW-Authenticate" in response.headers) is (status == 401)


def test_before_it_authenticates_the_view_sees_the_user_of_http(serve):
    early = []

    class Early(Probe):
        def dispatch(self, request, *args, **kwargs):
            early.append((str(request.user), hasattr(request, "auth")))
            return super().dispatch(request, *args, **kwargs)

    probe = serve(Early.looking(identity, authentication_classes=[KeyAuthentication]))
    make_key_client().get("/probe/")
    Agent(make_key_client()).call_with("probe_get", {})
    assert early == [("AnonymousUser", False)] * 2
    assert probe.seen[0] == probe.seen[1]


class BodyAuthentication(BaseAuthentication):
    """Authenticates by a key in the body, or by the header at the endpoint."""

    def authenticate(self, request):
        key = request.data.get("key")
        return KeyAuthentication().authenticate(request) if key is None else (key, None)


class NotingAuthentication(KeyAuthentication):
    def authenticate(self, request):
        request.tenant = "north"
        return super().authenticate(request)


def test_a_view_whose_credential_is_in_the_body_authenticates_itself(serve):
    probe = make_probe("initial", authentication_classes=[BodyAuthentication])
    probe.looks = [lambda request: request.user]
    serve(probe, [BodyAuthentication], [AllowAny])
    send("alice read", "probe_post", {"body": {"key": "a guest"}})
    assert probe.seen == ["a guest"]


def test_a_view_authenticates_itself_if_its_authenticator_sets_attributes_of_the_request(serve):
    probe = make_probe("initial", look=lambda request: request.tenant)
    probe.authentication_classes = [NotingAuthentication]
    serve(probe, [NotingAuthentication])
    send("alice read")
    assert probe.seen == ["north"]


def test_a_request_that_the_view_makes_is_authenticated_again(serve):
    class Own(Probe):
        def initialize_request(self, request, *args, **kwargs):
            super().initialize_request(request, *args, **kwargs)
            return Request(request)

    probe = serve(Own.looking(identity, authentication_classes=[KeyAuthentication]))
    make_key_client().get("/probe/")
    send("alice read write")
    assert probe.seen[0] == probe.seen[1]
    assert str(probe.seen[1][1]) == "AnonymousUser"
