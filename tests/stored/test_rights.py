"""Archived content is given by the current permissions, and checking them is cheap."""

from __future__ import annotations

import datetime

import pytest
from django.contrib.auth.models import User
from django.urls import path
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer, SerializerMethodField
from rest_framework.views import APIView

from drf_mcp.access.narrowing import Narrowing
from drf_mcp.exposure import mcp_tool
from drf_mcp.models import ArchivedContent

pytestmark = pytest.mark.django_db
DATABASE = "drf_mcp.archives.DatabaseArchive"


class PersonSerializer(ModelSerializer):
    """A user, with a salary for staff."""

    note = SerializerMethodField()

    class Meta:
        model = User
        fields = ["id", "username", "note"]

    def get_note(self, user) -> str:
        reader = self.context["request"].user
        return f"salary {1000 + user.pk} " * 10 if reader.is_staff else "about " * 20


class People(ListAPIView):
    """All users."""

    permission_classes = [IsAuthenticated]
    queryset = User.objects.filter(username__startswith="worker").order_by("pk")
    serializer_class = PersonSerializer
    runs = 0

    def get(self, request, *args, **kwargs) -> Response:
        People.runs += 1
        return super().get(request, *args, **kwargs)


class StockPeople(ListAPIView):
    """The same, by REST framework's own handler."""

    permission_classes = [IsAuthenticated]
    queryset = People.queryset
    serializer_class = PersonSerializer


class Log(APIView):
    """The events of the last three seconds, all of which are gone a moment later."""

    permission_classes = [IsAuthenticated]

    def get(self, request) -> Response:
        now = timezone.now()
        lines = [now - datetime.timedelta(milliseconds=n) for n in range(266)]
        return Response([{"id": n, "at": line.isoformat()} for n, line in enumerate(lines)])


class ByRole(StockPeople):
    """Depends on roles in a table of the project."""

    role = "owner"

    def get_rights_fingerprint(self, request) -> str:
        return self.role


class Unkept(StockPeople):
    """Does not archive its answers."""

    archive = False


@pytest.fixture
def serve(expose):
    def serve(**settings) -> None:
        expose(
            path("people/", People.as_view()),
            path("ours/", StockPeople.as_view()),
            path("log/", Log.as_view()),
            path("role/", ByRole.as_view()),
            path("unkept/", Unkept.as_view()),
            path("off/", mcp_tool(name="off", archive=False)(type("Off", (Log,), {})).as_view()),
            **{"ARCHIVE_CLASS": DATABASE, "MAX_RESULT_TOKENS": 2000, **settings},
        )
        User.objects.bulk_create(User(username=f"worker {n}") for n in range(160))

    return serve


def get_archive_id(agent, tool: str, **arguments) -> str:
    (archive_id,) = agent.call(tool, **arguments).envelope["meta"]["content_archive_hashes"]
    return archive_id


def read(agent, archive_id: str, **arguments):
    return agent.call("content_retrieve", archive_id=archive_id, **arguments)


def change(**members) -> None:
    User.objects.filter(username="alice").update(**members)


@pytest.mark.slow
def test_a_field_for_staff_is_not_given_after_a_demotion(serve, alice):
    serve()
    for tool in ("people_list", "ours_list"):
        change(is_staff=True)
        archive_id = get_archive_id(alice, tool)
        assert "salary" in str(read(alice, archive_id).data), tool
        change(is_staff=False)
        refused = read(alice, archive_id)
        assert refused.code == "NOT_FOUND", tool
        assert "salary" not in str(refused.raw), tool
        change(is_staff=True)
        assert "salary" in str(read(alice, archive_id).data), tool


@pytest.mark.slow
def test_a_log_whose_rows_have_since_gone_is_given_whole(serve, alice):
    serve()
    result = alice.call("log")
    shown = len(result.data["results"])
    (archive_id,) = result.envelope["meta"]["content_archive_hashes"]
    items, offset = [], 0
    while offset is not None:
        data = read(alice, archive_id, offset=offset).data
        items += data["items"]
        offset = data["next_offset"]
    assert (shown + len(items), data["total_count"]) == (266, len(items))


@pytest.mark.slow
def test_a_view_adds_its_own_permissions_to_the_fingerprint(serve, alice, monkeypatch):
    serve()
    archive_id = get_archive_id(alice, "role_list")
    assert read(alice, archive_id).data["items"]
    monkeypatch.setattr(ByRole, "role", "guest")
    assert read(alice, archive_id).code == "NOT_FOUND"


def test_a_tool_or_view_can_switch_the_archive_off(serve, alice):
    serve()
    for tool in ("unkept_list", "off"):
        assert "content_retrieve" not in str(alice.call(tool).envelope), tool
    assert not ArchivedContent.objects.exists()


class Narrowed:
    """A credential for some of the tools."""

    tools: tuple[str, ...] | None = None

    @property
    def narrowing(self) -> Narrowing | None:
        return None if self.tools is None else Narrowing("this token", self.tools)


class NarrowedAuthentication(BaseAuthentication):
    """Authenticates each request as alice."""

    def authenticate(self, request):
        return User.objects.get(username="alice"), Narrowed()


@pytest.mark.slow
def test_a_narrowed_token_does_not_read_content_of_a_wider_one(serve, alice, monkeypatch):
    serve(AUTHENTICATION_CLASSES=[NarrowedAuthentication])
    archive_id = get_archive_id(alice, "ours_list")
    assert read(alice, archive_id).data["items"]
    for tools in (("log",), ("ours_*", "log")):
        monkeypatch.setattr(Narrowed, "tools", tools)
        assert read(alice, archive_id).code == "NOT_FOUND"
