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
        ARCHIVE_CLASS="drf_mcp.archive.DatabaseArchive",
        MAX_RESULT_TOKENS=2000,
    )
    User.objects.bulk_create(User(username=f"worker {n} {'x' * 99}") for n in range(160))

    def shorten(tool: str, **arguments):
        meta = alice.call(tool, **arguments).envelope["meta"]
        archive_id = next(iter(meta["content_archive_hashes"]))
        return lambda: alice.call("content_retrieve", archive_id=archive_id)

    return shorten


def test_archived_content_is_given_where_no_rule_refuses_the_read(shorten, save_rule):
    fetch = shorten("people_list", search="worker")
    row = save_rule("people_list", condition='search == "others"')
    assert not fetch().is_error
    row.condition = 'search == "worker" and caller.username == "alice"'
    row.save()
    refused = fetch()
    assert (refused.code, "Not today." in str(refused.raw)) == ("NOT_FOUND", False)
    row.delete()
    assert not fetch().is_error
    save_rule("people_list", "approve")
    assert fetch().code == "NOT_FOUND"


@pytest.mark.parametrize("tool", ["note_retrieve", "notes_of"])
def test_a_rule_reads_the_present_object(shorten, save_rule, tool):
    keys = [Group.objects.create(name=name).pk for name in ("a", "b")]
    fetch = shorten(tool, **({"ids": keys} if tool == "notes_of" else {"id": keys[0]}))
    save_rule(tool, condition='object.name == "secret"')
    assert not fetch().is_error
    Group.objects.filter(pk=keys[0]).update(name="secret")
    assert fetch().code == "NOT_FOUND"


def test_for_a_read_with_a_body_only_rules_about_all_calls_count(shorten, save_rule):
    fetch = shorten("names_search", name="worker")
    save_rule("names_search", condition="caller.is_staff", order=1)
    save_rule("names_search", condition='name == "worker"', order=3)
    assert not fetch().is_error
    save_rule("names_search", condition="not caller.is_staff", order=2)
    assert fetch().code == "NOT_FOUND"


def test_archived_content_of_a_change_is_given(shorten, save_rule):
    fetch = shorten("names_make", name="worker")
    save_rule("names_make")
    assert not fetch().is_error


def test_archived_content_is_refused_where_a_rule_fails(shorten, save_rule):
    fetch = shorten("people_list")
    row = save_rule("people_list")
    row.condition = "no_such_argument == 1"
    row.save()
    assert fetch().code == "UNAVAILABLE"
