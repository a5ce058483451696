"""Every read of a kept answer asks anew whether its caller may be given it."""

from __future__ import annotations

import functools
from datetime import timedelta

import pytest
from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.models import Group, User
from django.db.models import F
from django.http import HttpResponseForbidden
from django.test import Client
from django.urls import path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from rest_framework.generics import RetrieveUpdateAPIView
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer
from rest_framework.views import APIView

from drf_mcp.contrib.writes.idempotency import find_records
from drf_mcp.exposure import mcp_tool
from drf_mcp.models import ArchivedContent
from tests.agents import Agent

pytestmark = pytest.mark.django_db
ROWS = [{"id": number, "text": "x" * 100} for number in range(100)]


def serve_rows(expose, *patterns, **settings) -> None:
    archive = {"ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive", "MAX_RESULT_TOKENS": 1000}
    expose(*patterns, **archive, **settings)


def keep(agent, tool: str, **arguments) -> str:
    (archive_id,) = agent.call(tool, **arguments).envelope["meta"]["content_archive_hashes"]
    assert agent.call("content_retrieve", archive_id=archive_id).data["items"]
    return archive_id


def is_gone(agent, archive_id: str) -> bool:
    result = agent.call("content_retrieve", archive_id=archive_id)
    return result.is_error and result.code == "NOT_FOUND"


class Rows(APIView):
    """Rows."""

    permission_classes = [IsAuthenticated]

    def get(self, request) -> Response:
        return Response(ROWS)


LOCKED: set[str] = set()


def lock(get_response):
    def respond(request):
        return HttpResponseForbidden() if request.path in LOCKED else get_response(request)

    return respond


def test_middleware_that_refuses_the_call_refuses_the_next_slice(expose, alice, monkeypatch):
    serve_rows(expose, path("rows/", Rows.as_view()), CALL_MIDDLEWARE=[f"{__name__}.lock"])
    archive_id = keep(alice, "rows")
    monkeypatch.setitem(globals(), "LOCKED", {"/rows/"})
    assert is_gone(alice, archive_id)


class FromHome(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.META["REMOTE_ADDR"] == "127.0.0.1"


def test_an_anonymous_caller_is_judged_alone(expose):
    view = type("Open", (Rows,), {"permission_classes": [FromHome]})
    serve_rows(expose, path("open/", view.as_view()))
    archive_id = keep(Agent(Client()), "open")
    assert is_gone(Agent(Client(REMOTE_ADDR="203.0.113.7")), archive_id)
    assert not is_gone(Agent(Client()), archive_id)


class OnHandler(Rows):
    """A decorator of the handler decides."""

    @method_decorator(user_passes_test(lambda user: True))
    def get(self, request) -> Response:
        return super().get(request)


class OnDispatch(Rows):
    """A decorator that refuses nobody is no reason to keep nothing."""

    @method_decorator(never_cache)
    def get(self, request) -> Response:
        return super().get(request)


def guarded(function):
    @functools.wraps(function)
    def decide(*args, **kwargs):
        return function(*args, **kwargs)

    return decide


class OwnDecorator(Rows):
    """A decorator of the project on the handler."""

    @guarded
    def get(self, request) -> Response:
        return super().get(request)


def test_behind_a_decorator_that_may_refuse_nothing_is_kept_and_the_result_says_so(expose, alice):
    views = [OnHandler, OwnDecorator]
    patterns = [path(f"{view.__name__.lower()}/", view.as_view()) for view in views]
    wrapped = path("wrapped/", guarded(Rows.as_view()))
    serve_rows(expose, wrapped, *patterns, path("harmless/", OnDispatch.as_view()))
    for tool in ("wrapped", "onhandler", "owndecorator"):
        details = alice.call(tool).envelope["meta"]["warning_details"]
        assert [each["code"] for each in details] == ["CONTENT_TRUNCATED", "ARCHIVE_UNAVAILABLE"]
        assert "content_retrieve" not in str(details), tool
    assert not ArchivedContent.objects.exists()
    assert keep(alice, "harmless")


class BodyDecides(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.data.get("word") == "please"


@mcp_tool(body={"word": {"type": "string"}})
class Asked(APIView):
    """A write whose permission reads the body, which is not kept."""

    permission_classes = [BodyDecides]

    def post(self, request) -> Response:
        return Response(ROWS)


def test_what_no_permission_can_be_asked_about_is_not_promised(expose, alice):
    serve_rows(expose, path("asked/", Asked.as_view()), FIELDS_ARGUMENT=False)
    result = alice.call("asked", word="please")
    assert "content_retrieve" not in str(result.envelope)
    assert "ARCHIVE_UNAVAILABLE" in str(result.envelope)


class GroupSerializer(ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class OneGroup(RetrieveUpdateAPIView):
    """A group."""

    permission_classes = [IsAuthenticated]
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


def test_an_old_replay_has_its_body_only_while_the_object_of_the_url_is_found(expose, alice):
    expose(path("groups/<int:pk>/", OneGroup.as_view()), IDEMPOTENCY_KEYS=True)
    group = Group.objects.create(name="one")
    sent = {"id": group.pk, "name": "two", "idempotency_key": "k"}
    assert alice.call("groups_update", **sent).data["name"] == "two"
    assert alice.call("groups_update", **sent).data["name"] == "two"
    find_records().update(created=F("created") - timedelta(minutes=16))
    assert alice.call("groups_update", **sent).data["name"] == "two"
    group.delete()
    again = alice.call("groups_update", **sent)
    assert again.envelope["success"]
    assert "not made again" in str(again.envelope)
    assert "name" not in again.data


def test_rights_of_the_endpoints_own_credential_count_too(expose, alice):
    """The view here admits everybody, and authenticates nobody."""
    view = type("Public", (Rows,), {"permission_classes": [], "authentication_classes": []})
    serve_rows(expose, path("public/", view.as_view()))
    archive_id = keep(alice, "public")
    User.objects.filter(username="alice").update(is_staff=True)
    assert is_gone(alice, archive_id)
