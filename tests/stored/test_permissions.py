"""Each read of archived content checks the permissions of the call that stored it."""

from __future__ import annotations

from functools import wraps

import pytest
from django.contrib.auth.models import Group, User
from django.db import OperationalError
from django.db.models import F
from django.http import JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from rest_framework.authentication import BaseAuthentication, TokenAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView, RetrieveAPIView
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer, SerializerMethodField
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

CACHE = "drf_mcp.archives.CacheArchive"
ROWS = [{"id": number, "text": "x" * 100} for number in range(100)]
members: set[str] = set()


@pytest.fixture(autouse=True)
def alice_is_a_member():
    members.clear()
    members.add("alice")


def is_member(request) -> bool:
    return request.user.get_username() in members


class IsProjectMember(BasePermission):
    def has_permission(self, request, view) -> bool:
        return view.kwargs["project"] == 7 and is_member(request)


class IsTeamMember(BasePermission):
    def has_permission(self, request, view) -> bool:
        return request.query_params["team"] == "red" and is_member(request)


class OwnsIt(BasePermission):
    def has_object_permission(self, request, view, obj) -> bool:
        return is_member(request)


class OfProject(APIView):
    """A nested list."""

    permission_classes = [IsAuthenticated, IsProjectMember]

    def get(self, request, project) -> Response:
        return Response(ROWS)


class OfTeam(APIView):
    """A list of a team that a query parameter names."""

    permission_classes = [IsAuthenticated, IsTeamMember]

    def get(self, request) -> Response:
        return Response(ROWS)


class LongGroup(ModelSerializer):
    rows = SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "rows"]

    def get_rows(self, group) -> list:
        return ROWS


class One(RetrieveAPIView):
    """One object, with object permissions."""

    permission_classes = [IsAuthenticated, OwnsIt]
    queryset = Group.objects.all()
    serializer_class = LongGroup


class ByHand(APIView):
    """One object, which the handler looks up and checks itself."""

    permission_classes = [IsAuthenticated, OwnsIt]

    def get(self, request, pk) -> Response:
        group = get_object_or_404(Group, pk=pk)
        self.check_object_permissions(request, group)
        return Response(ROWS)


class ByHandInViewSet(GenericViewSet):
    """The same as an action, in a viewset without handlers of REST framework."""

    permission_classes = [IsAuthenticated, OwnsIt]
    queryset = Group.objects.all()

    class Once(UserRateThrottle):
        rate = "1/day"

    throttle_classes = [Once]

    def retrieve(self, request, pk=None) -> Response:
        group = get_object_or_404(Group, pk=pk)
        self.check_object_permissions(request, group)
        return Response(ROWS)


class Changed(GenericAPIView):
    """A write with a long answer, to an object with object permissions."""

    permission_classes = [IsAuthenticated, OwnsIt]
    queryset = Group.objects.all()

    def post(self, request, pk) -> Response:
        self.get_queryset().filter(pk=pk).update(name=F("name"))
        return Response(ROWS)


def locked(callback):
    @wraps(callback)
    def checked(request, *args, **kwargs):
        if not members & {"alice"}:
            return JsonResponse({"detail": "Locked."}, status=403)
        return callback(request, *args, **kwargs)

    return checked


class Initially(APIView):
    """Checks permissions in `initial`, and throttles calls."""

    permission_classes = [IsAuthenticated]

    class Once(UserRateThrottle):
        scope, rate = "initially", "1/day"

    throttle_classes = [Once]

    def initial(self, request, *args, **kwargs) -> None:
        super().initial(request, *args, **kwargs)
        if not is_member(request):
            raise PermissionDenied

    def get(self, request) -> Response:
        return Response(ROWS)


class ScopedToken:
    scopes: set[str] = {"rows:read"}


class BearerAuthentication(BaseAuthentication):
    """Accepts any bearer token as alice's."""

    def authenticate(self, request):
        return User.objects.get(username="alice"), ScopedToken()


class HasScope(BasePermission):
    def has_permission(self, request, view) -> bool:
        return "rows:read" in request.auth.scopes


class Scoped(APIView):
    """A list that needs a scope."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [HasScope]

    def get(self, request) -> Response:
        return Response(ROWS)


class Puzzled(APIView):
    """Has a permission that raises the second time."""

    class Fails(BasePermission):
        def has_permission(self, request, view) -> bool:
            return {"alice": True}[next(iter(members))]

    permission_classes = [IsAuthenticated, Fails]

    def get(self, request) -> Response:
        return Response(ROWS)


@pytest.fixture
def archive_of(expose, alice):
    expose(
        path("projects/<int:project>/rows/", OfProject.as_view()),
        path("team/", OfTeam.as_view()),
        path("one/<int:pk>/", One.as_view()),
        path("hand/<int:pk>/", ByHand.as_view()),
        path("handset/<int:pk>/", ByHandInViewSet.as_view({"get": "retrieve"})),
        path("locked/", locked(type("Locked", (Initially,), {"throttle_classes": []}).as_view())),
        path("changed/<int:pk>/", Changed.as_view()),
        path("initially/", Initially.as_view()),
        path("puzzled/", Puzzled.as_view()),
        path("scoped/", Scoped.as_view()),
        EXTRA_QUERY=True,
        ARCHIVE_CLASS=CACHE,
        MAX_RESULT_TOKENS=1000,
        DIGESTER_CLASS=None,
    )

    def call(tool: str, **arguments) -> str:
        if tool in OF_ONE:
            arguments = {"pk": Group.objects.create(name=tool).pk}
        (archive_id,) = alice.call(tool, **arguments).envelope["meta"]["content_archive_hashes"]
        return archive_id

    return call


OF_ONE = ("one_retrieve", "handset_retrieve", "changed", "hand")


@pytest.mark.slow
def test_archived_content_is_readable_while_its_call_is_allowed(archive_of, alice):
    """Reads are not throttled, whatever their number."""
    found = {
        "projects_rows": archive_of("projects_rows", project=7),
        "team": archive_of("team", query={"team": "red"}),
        **{tool: archive_of(tool) for tool in (*OF_ONE[:3], "initially", "puzzled")},
    }
    for archive_id in [*found.values()] * 3:
        assert alice.call("content_retrieve", archive_id=archive_id).data["items"]
    members.clear()
    members.add("bob")
    refused = {
        tool: alice.call("content_retrieve", archive_id=archive_id).code
        for tool, archive_id in found.items()
    }
    # A permission that raises has neither allowed nor refused.
    assert refused == {**dict.fromkeys(found, "NOT_FOUND"), "puzzled": "UNAVAILABLE"}


def test_the_answer_about_an_object_of_the_handlers_own_stays_readable(archive_of, alice):
    """Only its handler knows who may read the object, and the handler is not run again."""
    archive_id = archive_of("hand")
    members.clear()
    assert alice.call("content_retrieve", archive_id=archive_id).data["items"]


@pytest.mark.parametrize(
    ("tool", "asked", "name"),
    [
        ("initially", IsAuthenticated, "has_permission"),
        ("one_retrieve", GenericAPIView, "get_object"),
    ],
)
def test_a_failing_database_is_answered_with_unavailable_and_not_with_not_found(
    archive_of, alice, monkeypatch, tool, asked, name
):
    archive_id = archive_of(tool)

    def fail(*args: object) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(asked, name, fail)
    assert alice.call("content_retrieve", archive_id=archive_id).code == "UNAVAILABLE"


def test_a_token_without_the_scope_reads_nothing(archive_of, alice, monkeypatch):
    archive_id = archive_of("scoped")
    assert alice.call("content_retrieve", archive_id=archive_id).data["items"]
    monkeypatch.setattr(ScopedToken, "scopes", {"profile"})
    assert alice.call("content_retrieve", archive_id=archive_id).code == "NOT_FOUND"


def test_content_of_a_deleted_object_is_not_found(archive_of, alice):
    archive_id = archive_of("one_retrieve")
    Group.objects.all().delete()
    assert alice.call("content_retrieve", archive_id=archive_id).code == "NOT_FOUND"


class Machine:
    is_authenticated = True

    def __init__(self, pk) -> None:
        self.pk = pk

    def get_username(self) -> str:
        return "alice"


class MachineAuthentication(BaseAuthentication):
    def authenticate(self, request):
        pk = request.headers.get("X-Machine")
        return (Machine(int(pk)), "machine") if pk else None


def test_a_user_of_another_class_with_the_same_key_is_another_owner(expose, alice, http_of):
    classes = [MachineAuthentication, TokenAuthentication]
    view = type("Both", (Initially,), {"authentication_classes": classes, "throttle_classes": []})
    own = {"AUTHENTICATION_CLASSES": classes, "ARCHIVE_CLASS": CACHE, "MAX_RESULT_TOKENS": 1000}
    expose(path("both/", view.as_view()), **own)
    meta = alice.call("both").envelope["meta"]
    ((archive_id, digest),) = meta["content_archive_hashes"].items()
    pk = User.objects.get(username="alice").pk
    machine = http_of(None)
    for asked in ({"archive_id": archive_id}, {"content_hash": digest}):
        answer = machine.get("/mcp/content/", asked, headers={"X-Machine": str(pk)})
        assert answer.status_code == 404
        assert alice.call("content_retrieve", **asked).data["items"]
