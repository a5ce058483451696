"""Archived content of a read is refused while a rule refuses the read."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.urls import path
from rest_framework import serializers
from rest_framework.filters import SearchFilter
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool


class NameSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username"]


class People(ListAPIView):
    queryset = User.objects.filter(username__startswith="worker").order_by("pk")
    serializer_class = NameSerializer
    filter_backends = [SearchFilter]
    search_fields = ["username"]


class NoteSerializer(serializers.ModelSerializer):
    text = serializers.SerializerMethodField()

    class Meta:
        model = Group
        fields = ["id", "name", "text"]

    def get_text(self, group) -> str:
        return "It is long. " * 2000


class Note(RetrieveAPIView):
    queryset = Group.objects.all()
    serializer_class = NoteSerializer


@mcp_tool(name="notes_of", many=True)
class Notes(Note):
    pass


class Names(APIView):
    def post(self, request) -> Response:
        return Response([{"id": number, "name": "about " * 20} for number in range(160)])


@mcp_tool(name="names_search", read_only=True, body={"name": {"type": "string"}})
class NameSearch(Names):
    pass


@mcp_tool(name="names_make", body={"name": {"type": "string"}})
class NameMaking(Names):
    pass


@pytest.fixture
def shorten(expose, alice):
    """Call a tool whose answer is too long, and return a function that retrieves the rest."""
    expose(
        path("people/", People.as_view()),
        path("note/<int:pk>/", Note.as_view()),
        path("notes/<int:pk>/", Notes.as_view()),
        path("names/search/", NameSearch.as_view()),
        path("names/", NameMaking.as_view()),
        ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive",
        MAX_RESULT_TOKENS=2000,
    )
    User.objects.bulk_create(User(username=f"worker {n} {'x' * 99}") for n in range(160))

    def shorten(tool: str, **arguments):
        meta = alice.call(tool, **arguments).envelope["meta"]
        archive_id = next(iter(meta["content_archive_hashes"]))
        return lambda: alice.call("content_retrieve", archive_id=archive_id)

    return shorten


def test_a_rule_for_every_call_of_a_read_takes_its_kept_answers_away(shorten, save_rule):
    fetch = shorten("people_list", search="worker")
    save_rule("people_list", when=("search", "is", "worker"))
    # The answer was right when it was made.
    assert not fetch().is_error
    save_rule("people_list", order=1)
    refused = fetch()
    assert (refused.code, "Not today." in str(refused.raw)) == ("NOT_FOUND", False)


def test_archived_content_of_a_change_is_given(shorten, save_rule):
    fetch = shorten("names_make", name="worker")
    save_rule("names_make")
    assert not fetch().is_error
