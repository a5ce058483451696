"""Of archived rows only those that the caller may still list are given."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import ListAPIView
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer, SerializerMethodField
from rest_framework.views import APIView

pytestmark = pytest.mark.django_db
GONE = "NOT_FOUND"


class GroupSerializer(ModelSerializer):
    """A group with a long note."""

    note = SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "name", "note"]

    def get_note(self, group) -> str:
        return f"Note {group.pk}. " + "word " * 60


class NameSerializer(GroupSerializer):
    """A group that shows no primary key."""

    class Meta(GroupSerializer.Meta):
        fields = ["name", "note"]


class OwnGroups(ListAPIView):
    """The groups of the caller."""

    serializer_class = GroupSerializer

    def get_queryset(self):
        return Group.objects.filter(user=self.request.user).order_by("pk")


class NamedGroups(OwnGroups):
    """The same without primary keys."""

    serializer_class = NameSerializer


class SliceOfGroups(OwnGroups):
    """The same as a slice, which no further filter can narrow."""

    def get_queryset(self):
        return super().get_queryset()[:1000]


class OnlyOwn(BaseFilterBackend):
    """Narrows to the groups of the caller."""

    def filter_queryset(self, request, queryset, view):
        return queryset.filter(user=request.user)


class FilteredGroups(ListAPIView):
    """The groups that a filter backend leaves."""

    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    filter_backends = [OnlyOwn]


class GroupsByHand(APIView):
    """The same, by hand."""

    def get(self, request) -> Response:
        groups = Group.objects.filter(user=request.user).order_by("pk")
        return Response([{"id": group.pk, "note": "word " * 60} for group in groups])


class GroupsInside(APIView):
    """The same, as a member of an object."""

    def get(self, request) -> Response:
        groups = Group.objects.filter(user=request.user).order_by("pk")
        rows = [{"pk": group.pk, "body": f"Long {group.pk}. " * 900} for group in groups]
        return Response({"kind": "groups", "rows": rows})


class Unnamed(APIView):
    """The same, as rows without keys."""

    def get(self, request) -> Response:
        groups = Group.objects.filter(user=request.user).order_by("pk")
        return Response([{"label": "Some", "body": f"Long {group.pk}. " * 900} for group in groups])


class NamesByHand(APIView):
    """The names of the groups of the caller."""

    def get(self, request) -> Response:
        groups = Group.objects.filter(user=request.user).order_by("pk")
        return Response([f"{group.name} " * 20 for group in groups])


@pytest.fixture
def groups(expose, settings) -> list[Group]:
    expose(
        path("own/", OwnGroups.as_view()),
        path("named/", NamedGroups.as_view()),
        path("sliced/", SliceOfGroups.as_view()),
        path("filtered/", FilteredGroups.as_view()),
        path("hand/", GroupsByHand.as_view()),
        path("inside/", GroupsInside.as_view()),
        path("unnamed/", Unnamed.as_view()),
        path("names/", NamesByHand.as_view()),
        ARCHIVE_CLASS="drf_mcp.archive.DatabaseArchive",
        MAX_RESULT_TOKENS=1000,
    )
    made = [Group.objects.create(name=f"group {number}") for number in range(60)]
    User.objects.get(username="alice").groups.set(made)
    return made


TOOLS = ["own_list", "named_list", "sliced_list", "filtered_list", "hand", "inside", "unnamed"]


def fetch(agent, archive_id: str) -> list[dict]:
    items, offset = [], 0
    while offset is not None:
        result = agent.call("content_retrieve", archive_id=archive_id, offset=offset, limit=7)
        if not result.envelope["success"]:
            assert result.code == GONE
            return []
        items += result.data["items"]
        offset = result.data["next_offset"]
    return items


def shorten(agent, tool: str) -> str:
    (archive_id,) = agent.call(tool).envelope["meta"]["content_archive_hashes"]
    return archive_id


@pytest.mark.parametrize("tool", TOOLS)
def test_only_rows_that_the_caller_may_still_list_are_given(groups, alice, tool):
    archive_id = shorten(alice, tool)
    before = fetch(alice, archive_id)
    assert len(before) > 40
    own = User.objects.get(username="alice").groups
    own.remove(groups[-1])
    after = fetch(alice, archive_id)
    assert after == [item for item in before if "/59" not in item["pointer"]]
    assert len(after) < len(before)
    # Of no rows at all it is said what is said of content that never was.
    own.clear()
    refused = alice.call("content_retrieve", archive_id=archive_id)
    never = alice.call("content_retrieve", archive_id="x" * 22)
    assert (refused.code, refused.envelope["error"]) == (GONE, never.envelope["error"])


@pytest.mark.parametrize("tool", TOOLS)
def test_a_row_that_is_taken_between_two_slices_costs_no_other_row(groups, alice, tool):
    archive_id = shorten(alice, tool)
    every = fetch(alice, archive_id)
    first = alice.call("content_retrieve", archive_id=archive_id, limit=1).data
    assert (first["items"], first["total_count"]) == (every[:1], len(every))
    gone = int(every[0]["pointer"].split("/")[-1 if tool != "inside" else 2])
    User.objects.get(username="alice").groups.remove(groups[gone])
    second = alice.call(
        "content_retrieve", archive_id=archive_id, offset=first["next_offset"], limit=1
    ).data
    assert second["items"] == every[1:2]


def test_rows_that_may_no_longer_be_read_are_passed_over(groups, alice):
    archive_id = shorten(alice, "own_list")
    every = fetch(alice, archive_id)
    User.objects.get(username="alice").groups.set(groups[-3:])
    found = alice.call("content_retrieve", archive_id=archive_id, limit=2).data
    assert [item["pointer"] for item in found["items"]] == ["/57", "/58"]
    assert found["next_offset"] == len(every) - 1


@pytest.mark.parametrize("asked", ["ids", "query"])
def test_a_row_is_not_given_by_its_id_or_by_words_either(groups, alice, asked):
    archive_id = shorten(alice, "own_list")
    last = groups[-1]
    User.objects.get(username="alice").groups.remove(last)
    arguments = {"ids": [str(last.pk)]} if asked == "ids" else {"query": f"Note {last.pk}."}
    found = alice.call("content_retrieve", archive_id=archive_id, **arguments)
    assert f"group {last.name}" not in str(found.raw)
    assert f"/{len(groups) - 1}" not in [i["pointer"] for i in found.data.get("passages", [])]


def test_a_value_of_a_list_that_the_caller_may_no_longer_read_is_not_given(groups, alice):
    archive_id = shorten(alice, "names")
    before = alice.call("content_retrieve", archive_id=archive_id).data
    User.objects.get(username="alice").groups.remove(groups[-1])
    after = alice.call("content_retrieve", archive_id=archive_id).data
    assert after["values"] == [v for v in before["values"] if f"{groups[-1].name} " not in v]
    assert after["length"] == after["total_count"] == before["total_count"] - 1


class Tenant:
    """What middleware puts on a request."""

    def __init__(self, pk: int) -> None:
        self.pk = pk


def test_content_of_one_tenant_is_not_found_in_another(groups, alice, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.tenant_middleware"]
    archive_id = shorten(alice, "own_list")
    tenant_middleware.tenant = Tenant(2)
    try:
        assert fetch(alice, archive_id) == []
    finally:
        tenant_middleware.tenant = Tenant(1)
    assert fetch(alice, archive_id)


def tenant_middleware(get_response):
    def middleware(request):
        request.tenant = tenant_middleware.tenant
        return get_response(request)

    return middleware


tenant_middleware.tenant = Tenant(1)
