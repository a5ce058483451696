"""Of archived rows the caller gets only those that they may still list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.serializers import CharField, ModelSerializer, SerializerMethodField
from rest_framework.views import APIView

from drf_mcp.models import ArchivedContent
from drf_mcp.tools import mcp_tool

pytestmark = pytest.mark.django_db
GONE = "NOT_FOUND"


class EntrySerializer(ModelSerializer):
    """An entry with a long note."""

    name = CharField(source="object_repr")
    note = SerializerMethodField()

    class Meta:
        model = LogEntry
        fields = ["id", "name", "note"]

    def get_note(self, entry) -> str:
        return f"Note {entry.pk}. " + "word " * 60


class NameSerializer(EntrySerializer):
    """An entry without its primary key."""

    class Meta(EntrySerializer.Meta):
        fields = ["name", "note"]


class OwnEntries(ListAPIView):
    """The entries of the caller."""

    serializer_class = EntrySerializer

    def get_queryset(self):
        return LogEntry.objects.filter(user=self.request.user).order_by("pk")


class NamedEntries(OwnEntries):
    """The same, without primary keys."""

    serializer_class = NameSerializer


class SliceOfEntries(OwnEntries):
    """The same as a slice, which a further filter cannot narrow."""

    def get_queryset(self):
        return super().get_queryset()[:1000]


class OnlyOwn(BaseFilterBackend):
    """Filters the entries of the caller."""

    def filter_queryset(self, request, queryset, view):
        return queryset.filter(user=request.user)


class FilteredEntries(ListAPIView):
    """The same, by a filter backend."""

    queryset = LogEntry.objects.order_by("pk")
    serializer_class = EntrySerializer
    filter_backends = [OnlyOwn]


class ListedEntries(OwnEntries):
    """The same, by a handler that wraps REST framework's."""

    def list(self, request, *args, **kwargs) -> Response:
        return Response({"kind": "entries", "rows": super().list(request).data})


class SearchedEntries(OwnEntries, GenericAPIView):
    """The same by POST, without a change."""

    http_method_names = ["post"]

    def post(self, request) -> Response:
        entries = self.filter_queryset(self.get_queryset())
        return Response(self.get_serializer(entries, many=True).data)


class EntryTaken(OwnEntries, GenericAPIView):
    """Deletes an entry, and answers with a long text about it."""

    http_method_names = ["post"]

    def post(self, request, pk) -> Response:
        self.get_object().delete()
        return Response({"note": "word " * 9000})


class EntriesByHand(APIView):
    """The same, by a handler of the project."""

    def get(self, request) -> Response:
        entries = LogEntry.objects.filter(user=request.user).order_by("pk")
        return Response([{"id": entry.pk, "note": "word " * 60} for entry in entries])


class EntriesInside(APIView):
    """The same, in a member of an object."""

    def get(self, request) -> Response:
        entries = LogEntry.objects.filter(user=request.user).order_by("pk")
        rows = [{"pk": entry.pk, "body": f"Long {entry.pk}. " * 900} for entry in entries]
        return Response({"kind": "entries", "rows": rows})


class NamesByHand(APIView):
    """The names of the entries of the caller."""

    def get(self, request) -> Response:
        entries = LogEntry.objects.filter(user=request.user).order_by("pk")
        return Response([f"{entry.object_repr} " * 20 for entry in entries])


class Flagged(BaseFilterBackend):
    """Takes ``flag``, and cannot do without it."""

    def filter_queryset(self, request, queryset, view):
        return queryset.filter(action_flag=request.query_params["flag"])

    def get_schema_operation_parameters(self, view):
        return [{"name": "flag", "in": "query", "schema": {"type": "integer"}}]


class FlaggedEntries(OwnEntries):
    """The entries of the caller by a filter of the query."""

    filterset_fields = ["action_flag"]
    filter_backends = [DjangoFilterBackend]


class StrictlyFlaggedEntries(OwnEntries):
    """The same by a filter that fails without its parameter."""

    filter_backends = [Flagged]


class NameOfEntry(EntrySerializer):
    """An entry as a string."""

    def to_representation(self, entry) -> str:
        return f"{entry.object_repr} " * 5


class NamesOfEntries(OwnEntries):
    """The entries of the caller as strings."""

    serializer_class = NameOfEntry


@pytest.fixture
def entries(expose, settings) -> list[LogEntry]:
    expose(
        path("own/", OwnEntries.as_view()),
        path("named/", NamedEntries.as_view()),
        path("sliced/", SliceOfEntries.as_view()),
        path("filtered/", FilteredEntries.as_view()),
        path("listed/", ListedEntries.as_view()),
        path("flagged/", FlaggedEntries.as_view()),
        path("entries/<int:pk>/taken/", mcp_tool(name="taken")(EntryTaken).as_view()),
        path("strict/", StrictlyFlaggedEntries.as_view()),
        path("searched/", mcp_tool(name="searched", read_only=True)(SearchedEntries).as_view()),
        path("hand/", EntriesByHand.as_view()),
        path("inside/", EntriesInside.as_view()),
        path("names/", NamesByHand.as_view()),
        path("texts/", NamesOfEntries.as_view()),
        ARCHIVE_CLASS="drf_mcp.archive.DatabaseArchive",
        MAX_RESULT_TOKENS=1000,
    )
    alice = User.objects.get(username="alice")
    return LogEntry.objects.bulk_create(
        LogEntry(user=alice, object_repr=f"entry {number}", action_flag=CHANGE)
        for number in range(60)
    )


def give_away(*entries: LogEntry) -> None:
    """Let entries belong to another user, who alone may read them then."""
    keys = [entry.pk for entry in entries]
    LogEntry.objects.filter(pk__in=keys).update(user=User.objects.get(username="bob"))


# Tools whose rows REST framework serialized, and tools whose rows only the project knows.
LISTED = ["own_list", "named_list", "sliced_list", "filtered_list", "listed_list", "searched"]
OWN = ["hand", "inside", "names"]


def give_back() -> None:
    LogEntry.objects.update(user=User.objects.get(username="alice"))


def fetch(agent, archive_id: str) -> list[dict]:
    items, offset = [], 0
    while offset is not None:
        result = agent.call("content_retrieve", archive_id=archive_id, offset=offset, limit=30)
        if not result.envelope["success"]:
            assert result.code == GONE
            return []
        items += result.data["items"]
        offset = result.data["next_offset"]
    return items


def get_archive_id(agent, tool: str, **arguments) -> str:
    result = agent.call(tool, **arguments)
    (archive_id,) = result.envelope["meta"]["content_archive_hashes"]
    return archive_id


def get_warnings(result) -> list[str]:
    return [detail["message"] for detail in result.envelope["meta"].get("warning_details", [])]


@pytest.mark.slow
def test_only_rows_that_the_caller_may_still_list_are_given(entries, alice):
    """The other rows are counted, and the total is that of the readable rows."""
    for tool in LISTED:
        archive_id = get_archive_id(alice, tool)
        before = fetch(alice, archive_id)
        assert len(before) > 40, tool
        first = alice.call("content_retrieve", archive_id=archive_id, limit=1)
        assert (first.data["total_count"], get_warnings(first)) == (len(before), [])
        give_away(*entries[-3:])
        after = fetch(alice, archive_id)
        assert after == [i for i in before if i["pointer"][-3:] not in ("/57", "/58", "/59")], tool
        assert len(after) == len(before) - 3, tool
        then = alice.call("content_retrieve", archive_id=archive_id, limit=1)
        assert get_warnings(then) == ["3 rows of this answer can no longer be read."], tool
        assert then.data["total_count"] == len(after), tool
        # Without any readable row the error is that for content that never existed.
        give_away(*entries)
        refused = alice.call("content_retrieve", archive_id=archive_id)
        never = alice.call("content_retrieve", archive_id="x" * 22)
        assert (refused.code, refused.envelope["error"]) == (GONE, never.envelope["error"]), tool
        give_back()


def test_a_row_that_the_callers_filter_leaves_out_since_is_still_theirs(entries, alice):
    archive_id = get_archive_id(alice, "flagged_list", action_flag=CHANGE)
    before = fetch(alice, archive_id)
    LogEntry.objects.filter(pk=entries[-1].pk).update(action_flag=DELETION)
    give_away(entries[-2])
    after = fetch(alice, archive_id)
    assert after == [item for item in before if item["pointer"] != "/58"]


def test_where_a_view_needs_its_query_a_row_that_left_it_is_withheld(entries, alice):
    archive_id = get_archive_id(alice, "strict_list", flag=CHANGE)
    before = fetch(alice, archive_id)
    LogEntry.objects.filter(pk=entries[-1].pk).update(action_flag=DELETION)
    assert fetch(alice, archive_id) == before[:-1]


def test_a_call_that_deletes_its_object_keeps_its_answer(entries, alice):
    archive_id = get_archive_id(alice, "taken", pk=entries[0].pk)
    result = alice.call("content_retrieve", archive_id=archive_id)
    assert "word word" in str(result.raw)


def pass_on(get_response):
    return get_response


class WrappingRenderer(JSONRenderer):
    """Wraps the data of a view in an object."""

    def render(self, data, accepted_media_type=None, renderer_context=None) -> bytes:
        wrapped = {"status": "success", "answer": {"data": data, "errors": []}}
        return super().render(wrapped, accepted_media_type, renderer_context)


@pytest.mark.parametrize("rendered_by", ["renderer", "wrapping renderer", "middleware"])
def test_the_objects_of_rendered_rows_are_known(entries, alice, settings, monkeypatch, rendered_by):
    renderers = {"renderer": CamelCaseJSONRenderer, "wrapping renderer": WrappingRenderer}
    if rendered_by in renderers:
        monkeypatch.setattr(OwnEntries, "renderer_classes", [renderers[rendered_by]])
    else:
        settings.DRF_MCP = {**settings.DRF_MCP, "CALL_MIDDLEWARE": [f"{__name__}.pass_on"]}
    archive_id = get_archive_id(alice, "own_list")
    before = fetch(alice, archive_id)
    give_away(*entries[-3:])
    assert len(fetch(alice, archive_id)) == len(before) - 3


class DoublingRenderer(JSONRenderer):
    """Writes each row twice."""

    def render(self, data, accepted_media_type=None, renderer_context=None) -> bytes:
        return super().render([data, data], accepted_media_type, renderer_context)


@pytest.mark.parametrize(
    ("renderer", "minutes"), [(JSONRenderer, 60), (WrappingRenderer, 60), (DoublingRenderer, 15)]
)
def test_a_list_without_known_rows_is_stored_for_a_shorter_time(
    entries, alice, monkeypatch, renderer, minutes
):
    monkeypatch.setattr(OwnEntries, "renderer_classes", [renderer])
    get_archive_id(alice, "own_list")
    (row,) = ArchivedContent.objects.all()
    assert row.expires - row.created == timedelta(minutes=minutes)


@pytest.mark.slow
def test_rows_of_the_projects_own_handlers_are_given_while_the_call_is_allowed(entries, alice):
    ids = [get_archive_id(alice, tool) for tool in OWN]
    before = [alice.call("content_retrieve", archive_id=i).data for i in ids]
    give_away(*entries)
    assert [alice.call("content_retrieve", archive_id=i).data for i in ids] == before


@pytest.mark.slow
def test_a_row_removed_between_two_slices_skips_no_other_row(entries, alice):
    for tool in LISTED:
        archive_id = get_archive_id(alice, tool)
        every = fetch(alice, archive_id)
        first = alice.call("content_retrieve", archive_id=archive_id, limit=1).data
        assert (first["items"], first["total_count"]) == (every[:1], len(every)), tool
        give_away(entries[int(every[0]["pointer"].split("/")[-1])])
        onward = {"archive_id": archive_id, "offset": first["next_offset"], "limit": 1}
        assert alice.call("content_retrieve", **onward).data["items"] == every[1:2], tool
        give_back()


@pytest.mark.slow
def test_rows_that_may_no_longer_be_read_are_skipped(entries, alice):
    archive_id = get_archive_id(alice, "own_list")
    every = fetch(alice, archive_id)
    give_away(*entries[:-3])
    found = alice.call("content_retrieve", archive_id=archive_id, limit=2).data
    assert [item["pointer"] for item in found["items"]] == ["/57", "/58"]
    assert found["next_offset"] == len(every) - 1


def test_an_unreadable_row_is_not_found_by_id_or_by_words(entries, alice):
    archive_id = get_archive_id(alice, "own_list")
    last = entries[-1]
    give_away(last)
    for asked in ({"ids": [str(last.pk)]}, {"query": f"Note {last.pk}."}):
        found = alice.call("content_retrieve", archive_id=archive_id, **asked)
        assert f"Note {last.pk}." not in str(found.raw)
        assert f"/{len(entries) - 1}" not in [i["pointer"] for i in found.data.get("passages", [])]


def test_the_readable_ones_of_several_ids_are_given(entries, alice):
    archive_id = get_archive_id(alice, "own_list")
    give_away(entries[-1])
    ids = [str(entry.pk) for entry in entries[-3:]]
    found = alice.call("content_retrieve", archive_id=archive_id, ids=ids).data
    assert [item["id"] for item in found["items"]] == ids[:2]
    assert found["total_count"] == 2


def test_readable_rows_that_are_strings_are_given(entries, alice):
    archive_id = get_archive_id(alice, "texts_list")
    before = alice.call("content_retrieve", archive_id=archive_id).data
    give_away(entries[-1])
    after = alice.call("content_retrieve", archive_id=archive_id).data
    assert after["values"] == [v for v in before["values"] if "entry 59 " not in v]
    assert after["length"] == after["total_count"] == before["total_count"] - 1


class Tenant:
    """The tenant that middleware sets."""

    def __init__(self, pk: int) -> None:
        self.pk = pk


@pytest.mark.slow
def test_content_of_one_tenant_is_not_found_by_another(entries, alice, settings):
    """The same user of another tenant is another owner."""
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.tenant_middleware"]
    archive_id = get_archive_id(alice, "own_list")
    tenant_middleware.tenant = Tenant(2)
    try:
        assert fetch(alice, archive_id) == []
        assert fetch(alice, get_archive_id(alice, "own_list"))
    finally:
        tenant_middleware.tenant = Tenant(1)
    assert fetch(alice, archive_id)
    assert len(set(ArchivedContent.objects.values_list("owner", flat=True))) == 2


def tenant_middleware(get_response):
    def middleware(request):
        request.tenant = tenant_middleware.tenant
        return get_response(request)

    return middleware


tenant_middleware.tenant = Tenant(1)
