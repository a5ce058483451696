"""Whom bounds count, and what one caller holds in a process."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import RequestFactory

from drf_mcp.access.limits import Held, LimitReached, find_holder


def request_of(tenant: str = "", credential: str = "", **meta: str):
    request = RequestFactory().post("/mcp", **meta)
    if credential:
        request.META["HTTP_AUTHORIZATION"] = credential
    request.tenant = tenant
    return request


def test_a_user_is_one_holder_in_all_tenants():
    holders = {find_holder(User(pk=1), None, request_of(tenant)) for tenant in ("", "a", "b")}
    assert len(holders) == 1
    assert find_holder(User(pk=2), None, request_of("a")) not in holders


def test_a_machine_is_one_holder_however_its_credential_is_spaced():
    sent = ("Bearer a", "bearer  a", "Bearer a ")
    holders = {find_holder(None, object(), request_of(credential=each)) for each in sent}
    assert len(holders) == 1
    assert find_holder(None, object(), request_of(credential="Bearer b")) not in holders


def test_an_anonymous_holder_is_the_address_that_throttles_see(settings):
    def hold(forwarded: str) -> str:
        request = request_of(REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded)
        return find_holder(AnonymousUser(), None, request)

    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NUM_PROXIES": 1}
    assert hold("6.6.6.6, 1.2.3.4") == hold("7.7.7.7, 1.2.3.4")
    assert hold("1.2.3.4") != hold("1.2.3.5")


def test_each_caller_holds_as_many_as_the_bound_says(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_STREAMS": 1}
    held = Held()
    give_back = held.take("MAX_STREAMS", "alice")
    with pytest.raises(LimitReached, match="1 streams of yours are open"):
        held.take("MAX_STREAMS", "alice")
    give_back_another = held.take("MAX_STREAMS", "bob")
    give_back()
    held.take("MAX_STREAMS", "alice")()
    give_back_another()
    assert not held.counts
