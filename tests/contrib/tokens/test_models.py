"""The validation and the properties of a token."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from drf_mcp.contrib.tokens.models import AgentToken


def test_invalid_patterns_are_never_stored(subtests, issue):
    for tools in ["orders_*", ["FETCH *"], ["Orders"], [1], None, {"a": 1}]:
        with subtests.test(tools=tools):
            with pytest.raises(ValidationError):
                issue(tools=tools)
            assert not AgentToken.objects.exists()


def test_invalid_networks_are_never_stored(subtests, issue):
    for networks in ["10.0.0.0/8", ["10.0.0.1/8"], ["shop.example"], [7]]:
        with subtests.test(networks=networks):
            with pytest.raises(ValidationError):
                issue(networks=networks)
            assert not AgentToken.objects.exists()


def test_a_second_revocation_keeps_the_time_of_the_first(issue):
    token, _ = issue()
    token.revoke()
    first = token.revoked
    token.revoke()
    assert token.revoked == first
    assert token.state == "revoked"


def test_texts_of_a_token_hold_nothing_of_its_secret(issue):
    token, key = issue(name="desk")
    assert str(token) == f"desk (mcp_{token.prefix})"
    assert key.rpartition("_")[2] not in repr(token)
