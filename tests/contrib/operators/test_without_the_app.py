"""The commands and the page of a project that does not install the app of reports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import modify_settings

pytestmark = pytest.mark.django_db
APP = "drf_mcp.contrib.operators"
VERBS = ("findings", "risks", "why x --as y", "lock", "check")


@pytest.fixture
def without_app(shelves) -> Iterator[None]:
    with modify_settings(INSTALLED_APPS={"remove": [APP]}):
        yield


def test_each_report_names_the_app_that_is_missing(run, without_app):
    for verb in VERBS:
        with pytest.raises(CommandError) as caught:
            run("mcp_tools", *verb.split())
        assert str(caught.value) == f'Add "{APP}" to INSTALLED_APPS.'
        assert caught.value.returncode == 2


def test_tools_are_listed_and_shown(printed, without_app):
    assert "shelves_list" in printed()
    shown = printed("show", "shelves_list")
    assert "permissions: " in shown
    assert shown.endswith("python manage.py mcp_call shelves_list --as USERNAME\n")


def test_the_page_of_a_tool_has_no_findings(client, without_app, settings):
    settings.DEBUG = True
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get("/mcp?tool=shelves_list", headers={"Accept": "text/html"}).content.decode()
    assert "Input schema" in page
    assert "Who may call it" not in page
    assert "Findings" not in page
    missing = client.get("/mcp?show=findings", headers={"Accept": "text/html"}).content.decode()
    assert "Findings" not in missing
