"""Stored data belongs to one user of one tenant, or to one credential."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import RequestFactory

from drf_mcp.access.scopes import find_principal, is_gone, make_caller_key


def request_of(tenant: Any = None, credential: str = "") -> Any:
    headers = {"authorization": credential} if credential else {}
    request = RequestFactory().post("/mcp", headers=headers)
    if tenant is not None:
        request.tenant = tenant
    return request


def test_a_user_has_another_key_in_each_tenant():
    user = User(pk=1)
    tenants = [None, Group(pk=1), Group(pk=2), SimpleNamespace(schema_name="first"), "second"]
    keys = [find_principal(user, request_of(tenant)) for tenant in tenants]
    assert len({*keys}) == len(keys)
    assert keys[0] == "auth.User:1"


def test_users_have_different_keys_and_anonymous_callers_none():
    request = request_of("tenant")
    assert find_principal(User(pk=1), request) != find_principal(User(pk=2), request)
    assert find_principal(AnonymousUser(), request) == find_principal(None, request) == ""


def test_each_credential_without_a_user_has_another_key():
    first, second = request_of(credential="Bearer a"), request_of(credential="Bearer b")
    keys = {make_caller_key(AnonymousUser(), object(), each) for each in (first, second)}
    assert len(keys) == 2
    assert not any("Bearer" in key for key in keys)
    assert make_caller_key(AnonymousUser(), None, first) == ""


def test_is_gone_means_known_and_not_active(subtests):
    for user, gone in [
        (None, False),
        (AnonymousUser(), False),
        (User(), False),
        (User(is_active=False), True),
        (SimpleNamespace(is_authenticated=True), False),
        (SimpleNamespace(is_active=False), True),
    ]:
        with subtests.test(user=user, gone=gone):
            assert is_gone(user) is gone
