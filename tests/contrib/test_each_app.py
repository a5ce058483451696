"""The core runs alone, each app runs without the others, and each app can be left out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.apps import AppConfig
from django.contrib.auth.models import Group
from django.core.checks import run_checks
from django.test import Client
from django.urls import path
from rest_framework import generics, serializers

from drf_mcp.exposure import mcp_viewset
from tests.agents import Agent
from tests.sources import ROOT

APPS = sorted(
    f"drf_mcp.contrib.{each.parent.name}" for each in (ROOT / "contrib").glob("*/apps.py")
)


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


@mcp_viewset(name="groups")
class Groups(generics.ListCreateAPIView):
    authentication_classes = []
    permission_classes = []
    serializer_class = GroupSerializer
    queryset = Group.objects.order_by("pk")


@pytest.fixture
def install(settings, expose):
    """Install some of the apps alone, and return an agent of the groups."""
    others = [app for app in settings.INSTALLED_APPS if not app.startswith(("drf_mcp.", "tests."))]

    def install(*apps: str) -> Agent:
        settings.INSTALLED_APPS = [*others, *apps]
        expose(path("groups/", Groups.as_view()), PERMISSION_CLASSES=[])
        return Agent(Client())

    return install


def assert_tools_work(agent: Agent) -> None:
    """Assert that the tools are listed, read, write, and refuse missing arguments."""
    assert {"groups_list", "groups_create"} <= agent.tools().keys()
    name = f"group {Group.objects.count()}"
    assert agent.call("groups_create", name=name).data["name"] == name
    assert agent.call("groups_list").data["results"][-1]["name"] == name
    assert agent.call("groups_create").code == "MISSING_REQUIRED"
    serious = {found.id for found in run_checks(tags=["drf_mcp"]) if found.is_serious()}
    # E020 names settings of django-oauth-toolkit, which these tests do not have.
    assert serious <= {"drf_mcp.E020"}


def find_required(app: str) -> Sequence[str]:
    return getattr(AppConfig.create(app), "mcp_requires", ())


@pytest.mark.django_db
def test_the_core_runs_without_the_apps(install):
    assert_tools_work(install())


@pytest.mark.django_db
def test_each_app_runs_without_the_others(install, subtests):
    for app in APPS:
        with subtests.test(app=app):
            assert_tools_work(install(*find_required(app), app))


@pytest.mark.django_db
def test_each_app_can_be_left_out(install, subtests):
    for app in APPS:
        with subtests.test(app=app):
            needing = [other for other in APPS if app in find_required(other)]
            assert_tools_work(install(*(other for other in APPS if other not in (app, *needing))))
