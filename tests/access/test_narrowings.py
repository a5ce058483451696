"""What a credential takes away, and one that says it in a wrong way."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core.exceptions import ImproperlyConfigured

from drf_mcp.access.narrowing import SERVER_READS, Narrowing, get_own_narrowings


def request_of(narrowing):
    return SimpleNamespace(auth=SimpleNamespace(narrowing=narrowing))


def test_a_credential_narrows_by_its_own_narrowing():
    own = Narrowing("this credential", ("orders_*",))
    assert list(get_own_narrowings(request_of(own))) == [own]
    assert list(get_own_narrowings(request_of(None))) == []


@pytest.mark.parametrize("wrong", [True, "orders_*", ["orders_*"], {"read_only": True}])
def test_anything_else_is_refused_before_it_could_open_more(wrong):
    with pytest.raises(ImproperlyConfigured, match=type(wrong).__name__):
        list(get_own_narrowings(request_of(wrong)))


@pytest.mark.parametrize("answer", [True, False])
def test_the_server_may_take_writing_away_by_caller(settings, answer):
    settings.DRF_MCP = {"READ_ONLY": lambda request: answer}
    assert list(get_own_narrowings(request_of(None))) == ([SERVER_READS] if answer else [])
