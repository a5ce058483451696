"""The admin has one section for the models of all apps of the package."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User

pytestmark = pytest.mark.django_db


def find_sections(client, path="/admin/"):
    content = client.get(path).text
    return re.findall(r'<caption>\s*<a href="([^"]+)"[^>]*>\s*([^<]+?)\s*</a>', content)


def test_an_administrator_finds_calls_rules_and_tokens_in_one_section(admin_client):
    sections = dict(reversed(each) for each in find_sections(admin_client))
    assert sections["MCP"] == "/admin/"
    assert [name for name in sections if "MCP" in name] == ["MCP"]
    content = admin_client.get("/admin/").text
    for name in ("auditedcall", "proposal", "agenttoken"):
        assert re.search(f'class="model-{name}', content), name


def test_the_page_of_one_app_has_its_models(admin_client):
    sections = dict(find_sections(admin_client, "/admin/drf_mcp_tokens/"))
    assert sections["/admin/drf_mcp_tokens/"] == "MCP tokens"


def test_without_a_permission_there_is_no_section(client):
    user = User.objects.create_user("clerk", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_user"))
    client.force_login(user)
    assert "MCP" not in dict(reversed(each) for each in find_sections(client))
