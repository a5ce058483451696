"""A definition is kept by revision."""

from __future__ import annotations

import pytest
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from drf_mcp.protocol import ERAS
from drf_mcp.test import MCPClient
from drf_mcp.tools import registry
from tests.tools.kept_urls import GroupViewSet

pytestmark = pytest.mark.django_db


class Groups(GroupViewSet):
    permission_classes = ()


@pytest.fixture
def groups(expose):
    router = SimpleRouter()
    router.register("groups", Groups)
    expose(path("", include(router.urls)))
    return registry.tools()


@pytest.mark.parametrize("revision", ERAS)
def test_a_revision_lists_the_same_before_and_after_other_revisions(groups, revision):
    alone = MCPClient(revision=revision).list_tools()
    registry.reload()
    for other in ERAS:
        if other != revision:
            MCPClient(revision=other).list_tools()
    assert MCPClient(revision=revision).list_tools() == alone
