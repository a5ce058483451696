"""Archived contents in the admin site, which are read-only."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from drf_mcp.admin import MAX_SHOWN
from drf_mcp.models import ArchivedContent

LIST = "admin:drf_mcp_archivedcontent_changelist"


@pytest.fixture
def row(db) -> ArchivedContent:
    content = '[{"id":"9","pointer":"/results/9","value":{"note":"<b>caf\\u00e9</b>"}}]'
    made = ArchivedContent.objects.create(
        archive_id="abc-123",
        owner="7",
        tool="orders_list",
        size=len(content),
        content_hash="sha256:" + "0" * 64,
        created=timezone.now(),
        expires=timezone.now() + timedelta(hours=1),
    )
    made.chunks.create(position=0, text=content[:40])
    made.chunks.create(position=1, text=content[40:])
    return made


@pytest.fixture
def admin(db) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="admin"))
    return client


def page_of(row: ArchivedContent) -> str:
    return reverse("admin:drf_mcp_archivedcontent_change", args=[row.pk])


@pytest.mark.slow
def test_the_list_shows_what_is_archived_and_can_be_searched(admin, row):
    text = admin.get(reverse(LIST)).content.decode()
    assert row.archive_id in text
    assert row.tool in text
    assert f'<td class="field-size">{row.size}</td>' in text
    for word, expected in ((row.content_hash, True), (row.owner, True), ("nothing", False)):
        text = admin.get(reverse(LIST), {"q": word}).content.decode()
        assert (page_of(row) in text) is expected, word


def test_a_page_shows_the_content_escaped_and_cut(admin, row):
    text = admin.get(page_of(row)).content.decode()
    assert "&lt;b&gt;café&lt;/b&gt;" in text
    assert "<b>caf" not in text
    row.chunks.update(text="")
    row.chunks.filter(position=0).update(text='["' + "x" * (MAX_SHOWN + 100) + '"]')
    text = admin.get(page_of(row)).content.decode()
    assert "more characters)" in text
    assert len(text) < MAX_SHOWN + 50_000


@pytest.mark.slow
def test_archived_contents_cannot_be_added_changed_or_deleted(admin, row):
    assert admin.get(reverse("admin:drf_mcp_archivedcontent_add")).status_code == 403
    assert admin.post(page_of(row), {"tool": "other"}).status_code == 403
    delete = reverse("admin:drf_mcp_archivedcontent_delete", args=[row.pk])
    assert admin.post(delete, {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    admin.post(reverse(LIST), action)
    assert list(ArchivedContent.objects.values_list("tool", flat=True)) == ["orders_list"]


def test_staff_need_the_permission_to_view(row):
    user = User.objects.create_user("clerk", is_staff=True)
    client = Client()
    client.force_login(user)
    assert client.get(page_of(row)).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_archivedcontent"))
    assert client.get(page_of(row)).status_code == 200
