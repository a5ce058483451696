"""Objects that do not fit into a result are read again when a client retrieves them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.urls import path
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.serializers import ModelSerializer, SerializerMethodField
from rest_framework.views import APIView
from rest_framework.viewsets import ReadOnlyModelViewSet

from drf_mcp.exposure import mcp_tool, mcp_viewset
from tests.dispatch.batches.conftest import IsNoSecret

NOWHERE = 10**9
CACHE = "drf_mcp.archives.CacheArchive"
COUNT = 14
# The first has REST framework's own handler, the second overrides it.
TOOLS = ("groups_retrieve", "hand_retrieve")


class LongSerializer(ModelSerializer):
    text = SerializerMethodField()
    notes = SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "name", "text", "notes"]

    def get_text(self, group) -> str:
        return f"The history of {group.name}. " * 40

    def get_notes(self, group) -> list[dict]:
        return [{"id": number, "note": f"{group.name} {number}"} for number in range(3)]


@mcp_viewset(many=True)
class Groups(ReadOnlyModelViewSet):
    authentication_classes = []
    permission_classes = [IsNoSecret]
    queryset = Group.objects.all()
    serializer_class = LongSerializer


@mcp_viewset(many=True)
class ByHand(Groups):
    """Overrides the handler."""

    def retrieve(self, request, *args, **kwargs) -> Response:
        return super().retrieve(request, *args, **kwargs)


class IsThere(BasePermission):
    def has_permission(self, request, view) -> bool:
        return view.kwargs["pk"] not in view.gone


@mcp_tool(many=True)
class Words(APIView):
    """One word for each number."""

    permission_classes = [IsThere]
    gone: set = set()

    def get(self, request, pk) -> Response:
        return Response(f"word {pk} " + "x" * 150)


@pytest.fixture
def many(db) -> list[int]:
    groups = [Group.objects.create(name=f"group {number}") for number in range(COUNT)]
    return [group.pk for group in groups]


@pytest.fixture
def agent(serve):
    return serve(
        path("groups/<int:pk>/", Groups.as_view({"get": "retrieve"})),
        path("hand/<int:pk>/", ByHand.as_view({"get": "retrieve"})),
        path("words/<int:pk>/", Words.as_view()),
        ARCHIVE_CLASS=CACHE,
        MAX_RESULT_TOKENS=2000,
        DIGESTER_CLASS=None,
    )()


def cut(agent, tool, ids) -> tuple[list, str]:
    """Return the rows that fit and the id of the archive that has the rest."""
    envelope = agent.call(tool, ids=ids).envelope
    (archive_id,) = envelope["meta"]["content_archive_hashes"]
    return envelope["data"]["results"], archive_id


def fetch(agent, archive_id) -> list[dict]:
    items, offset = [], 0
    while offset is not None:
        data = agent.call("content_retrieve", archive_id=archive_id, offset=offset).data
        items += data["items"]
        offset = data["next_offset"]
    return items


@pytest.mark.slow
def test_objects_are_dropped_from_the_end_and_can_be_retrieved(agent, many):
    """The archive keeps the order of the ids and the nulls for missing objects."""
    ids = [NOWHERE, *many, NOWHERE, many[0]]
    for tool in TOOLS:
        rows, archive_id = cut(agent, tool, ids)
        rest = [item["value"] for item in fetch(agent, archive_id)]
        assert 1 < len(rows) < COUNT
        assert [row and row["id"] for row in [*rows, *rest]] == [None, *many, None, many[0]], tool
        rows, archive_id = cut(agent, tool, many)
        fetched = [item["id"] for item in fetch(agent, archive_id)]
        assert fetched == [str(pk) for pk in many[len(rows) :]], tool


@pytest.mark.slow
def test_nothing_is_retrieved_once_an_object_is_forbidden(agent, many):
    archives = [cut(agent, tool, many)[1] for tool in TOOLS]
    Group.objects.filter(pk=many[-2]).update(name="secret")
    for archive_id in archives:
        assert agent.call("content_retrieve", archive_id=archive_id).code == "NOT_FOUND"


def test_a_part_of_an_object_is_retrieved_if_the_object_still_may_be_read(agent, many, monkeypatch):
    monkeypatch.setattr(
        LongSerializer,
        "get_notes",
        lambda self, group: [{"id": n, "note": f"{group.name} {n} " * 30} for n in range(60)],
    )
    archives = [cut(agent, tool, many[:1])[1] for tool in TOOLS]
    for archive_id in archives:
        items = fetch(agent, archive_id)
        assert any(item["pointer"].startswith("/0/notes/") for item in items)
    Group.objects.filter(pk=many[0]).update(name="secret")
    for archive_id in archives:
        assert agent.call("content_retrieve", archive_id=archive_id).code == "NOT_FOUND"


def fetch_values(agent, archive_id) -> list[dict]:
    data = agent.call("content_retrieve", archive_id=archive_id).data
    if "items" in data:
        return data["items"]
    values, offset = list(data["values"]), data["next_offset"]
    while offset is not None:
        data = agent.call("content_retrieve", archive_id=archive_id, offset=offset).data
        values += data["values"]
        offset = data["next_offset"]
    return [{"value": values}]
