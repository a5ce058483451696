"""The argument ``fields`` of reads: some of the fields of the answer."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import path
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import PageNumberPagination

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.exceptions import SoftFailure
from drf_mcp.introspection.field_selection import FieldSelection, SelectableFields
from drf_mcp.outcomes import Outcome
from drf_mcp.test import MCPClient
from drf_mcp.test.parity import assert_tool_parity
from drf_mcp.tools import mcp_tool, registry
from drf_mcp.transports.http_equivalent import EquivalentRequest
from tests.agents import REVISIONS, Agent, Result

SHOP_READS = {
    f"{prefix}_{action}"
    for prefix in ("customers", "products", "orders", "customers_orders", "tickets", "documents")
    for action in ("list", "retrieve")
}


class OwnerSerializer(serializers.Serializer):
    name = serializers.CharField()
    mail = serializers.CharField()


class LabelledSerializer(serializers.Serializer):
    """Adds a member that no field stands for."""

    text = serializers.CharField()

    def to_representation(self, instance):
        return {**super().to_representation(instance), "length": len(instance["text"])}


class BookSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    book_title = serializers.CharField()
    owner = OwnerSerializer()
    label = LabelledSerializer()
    metadata = serializers.JSONField()
    first_letter = serializers.SerializerMethodField()
    password = serializers.CharField(write_only=True)

    def get_first_letter(self, book):
        return {"letter": book["book_title"][0]}


BOOKS = [
    {
        "id": number,
        "book_title": title,
        "owner": {"name": "Ann", "mail": "ann@example.com"},
        "label": {"text": "old"},
        "metadata": {"colour": "red", "size": {"height": 3, "width": 2}},
    }
    for number, title in enumerate(["Emma", "Persuasion", "Sanditon"], start=1)
]


class Pages(PageNumberPagination):
    page_size = 2


class BookList(generics.ListAPIView):
    permission_classes = []
    serializer_class = BookSerializer
    pagination_class = Pages

    def get_queryset(self):
        return BOOKS


class BookDetail(generics.RetrieveAPIView):
    permission_classes = []
    serializer_class = BookSerializer

    def get_object(self):
        found = [book for book in BOOKS if book["id"] == self.kwargs["pk"]]
        if not found:
            raise NotFound
        return found[0]


class TakesFields(BaseFilterBackend):
    """Declares a parameter by the name of ours."""

    def filter_queryset(self, request, queryset, view):
        return queryset

    def get_schema_operation_parameters(self, view) -> list[dict]:
        return [{"name": "fields", "in": "query", "schema": {"type": "string"}}]


@pytest.fixture
def call(expose):
    """Serve the books, or one other view, and call the tool of that name."""

    books = (path("books/", BookList.as_view()), path("books/<int:pk>/", BookDetail.as_view()))
    served, agent = None, Agent(Client())

    def called(name: str, arguments: Any, *patterns, **mcp_settings) -> Result:
        nonlocal served, agent
        if served != (patterns, mcp_settings):
            served, agent = (patterns, mcp_settings), Agent(Client())
            expose(*(patterns or books), **mcp_settings)
        return agent.call_with(name, arguments)

    return called


@pytest.fixture
def argument(expose):
    """The schema of ``fields`` in the tool of a view, None where it has no such argument."""

    def shown(view, route: str = "books/", **mcp_settings) -> Any:
        expose(path(route, view), **mcp_settings)
        tool = next(iter(registry.tools().values()))
        fields = tool.arguments.fields
        return None if fields is None else fields.parameter.schema

    return shown


# --- Which tools have it ------------------------------------------------------------------


@pytest.mark.slow
def test_the_reads_of_the_example_project_take_fields(carol):
    tools = carol.tools()
    shown = {name for name, tool in tools.items() if "fields" in tool["inputSchema"]["properties"]}
    short = {"customers_retrieve", "documents_retrieve"}
    unknown = {
        name
        for name, tool in registry.tools().items()
        if tool.selects and not SelectableFields(tool.schema.output).get_paths()
    }
    assert shown == ((SHOP_READS - short) | unknown) & {*tools}
    assert "orders_list" in shown


def test_one_short_flat_object_takes_it_unseen(call):
    class FlatSerializer(serializers.Serializer):
        id = serializers.IntegerField()
        book_title = serializers.CharField()

    view = type("Flat", (BookDetail,), {"serializer_class": FlatSerializer}).as_view()
    answer = call("books_retrieve", {"pk": 1, "fields": ["id"]}, path("books/<int:pk>/", view))
    assert answer.data == {"id": 1}
    assert "fields" not in registry.tools()["books_retrieve"].input_schema["properties"]


def test_the_serializers_own_paths_are_enumerated(argument):
    assert argument(BookList.as_view()) == {
        "type": "array",
        "items": {
            "type": "string",
            "enum": [
                *("id", "book_title", "owner", "owner.name", "owner.mail"),
                *("label", "metadata", "first_letter"),
            ],
        },
    }


def test_more_than_twelve_paths_are_a_pattern_with_each_object_once(argument):
    fields = {f"field_{n}": serializers.CharField() for n in range(12)}
    wide = type("Wide", (serializers.Serializer,), {"owner": OwnerSerializer(), **fields})
    pattern = argument(BookList.as_view(serializer_class=wide))["items"]["pattern"]
    assert r"|owner(\.(name|mail))?)$" in pattern
    tried = ["owner.mail", "field_11", "mail", "field_0.mail"]
    assert [path for path in tried if re.search(pattern, path)] == ["owner.mail", "field_11"]


def test_many_and_long_paths_are_told_in_words(argument):
    owner = {"owner": OwnerSerializer()}
    fields = {f"field_{n}": serializers.CharField() for n in range(50)}
    wide = type("Wide", (serializers.Serializer,), {**owner, **fields})
    shown = argument(BookList.as_view(serializer_class=wide))
    assert shown["items"] == {"type": "string"}
    told = "Nested ones by dots, such as owner.name. Among them: owner, field_0,"
    assert told in shown["description"]
    assert shown["description"].endswith("field_38, ….")

    fields = {letter * 150: serializers.CharField() for letter in "abcde"}
    long = type("Long", (serializers.Serializer,), fields)
    shown = argument(BookList.as_view(serializer_class=long))
    assert shown["items"] == {"type": "string"}
    assert len(shown["description"]) < 800


class Extended(BookList):
    """Answers in a way of its own, of which nothing is known before."""

    def list(self, request, *args, **kwargs):
        return super().list(request, *args, **kwargs)


def test_an_answer_that_is_not_known_takes_any_field(argument):
    any_field = {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only these fields of the answer.",
    }
    assert argument(Extended.as_view()) == any_field
    assert argument(BookList.as_view(serializer_class=LabelledSerializer)) == any_field


def test_writes_and_views_that_leave_no_room_for_it_have_none(argument):
    """A setting, a filter, a path kwarg, and what the project says of the arguments."""
    books = BookList.as_view()
    query = mcp_tool(query={"fields": {"type": "string"}})(type("Said", (BookList,), {}))
    schema = mcp_tool(input_schema={"type": "object", "properties": {}})(
        type("Said", (BookList,), {})
    )
    assert argument(books, FIELDS_ARGUMENT=False) is None
    assert argument(generics.CreateAPIView.as_view(serializer_class=BookSerializer)) is None
    assert argument(BookList.as_view(filter_backends=[TakesFields])) is None
    assert argument(books, "books/<str:fields>/") is None
    assert argument(query.as_view()) is None
    assert argument(schema.as_view()) is None
    # An open query may hold an argument of that name which is the view's own.
    for arguments in ("flat", "grouped"):
        for is_open in (True, False):
            shown = argument(books, ARGUMENTS=arguments, EXTRA_QUERY=is_open)
            assert (shown is None) is is_open, arguments


# --- What it does -------------------------------------------------------------------------


def test_only_these_fields_of_an_object_however_they_are_spelled(call):
    ann = {"mail": "ann@example.com"}
    for spelled in (
        ["id", "owner.mail"],
        ["owner.mail", "id", "id"],
        ["id,owner.mail"],
        '["id", "owner.mail"]',
        "id,owner.mail",
        " id, owner.mail,",
    ):
        answer = call("books_retrieve", {"pk": 1, "fields": spelled})
        assert answer.data == {"id": 1, "owner": ann}, spelled
    whole = call("books_retrieve", {"pk": 1}).data
    assert set(whole) == {*BOOKS[0], "first_letter"}
    for nothing in (None, [], ""):
        assert call("books_retrieve", {"pk": 1, "fields": nothing}).data == whole


def test_only_these_fields_of_the_rows_of_a_page_and_of_the_next(call):
    answer = call("books_list", {"fields": ["id"]})
    assert answer.data == {"results": [{"id": 1}, {"id": 2}]}
    page = answer.envelope["meta"]["pagination"]
    assert page["total_count"] == 3
    assert page["next"] == {"fields": ["id"], "page": 2}


def test_the_view_hears_nothing_of_it(call):
    call("books_list", {})
    request = EquivalentRequest.of_call(registry.tool("books_list"), {"page": 2, "fields": ["id"]})
    assert request.path == "/books/?page=2"


def test_an_error_is_as_it_was(call):
    answer = call("books_retrieve", {"pk": 9, "fields": ["id"]})
    assert answer.code == "NOT_FOUND"
    assert answer.envelope["error"] == "Not found."


def test_a_failure_keeps_what_it_has_to_say(call):
    class Refusing(BookDetail):
        def get(self, request, pk):
            raise SoftFailure("No.", "no", data={"answer": 1})

    pattern = path("books/<int:pk>/", Refusing.as_view())
    answer = call("books_retrieve", {"pk": 1, "fields": ["id"]}, pattern)
    assert answer.data["answer"] == 1


def test_an_answer_that_is_no_object_stays():
    for data in (None, "some text", 7):
        outcome = Outcome("books_retrieve", 200, data)
        assert FieldSelection(["id"]).select(outcome.data) == data


def test_the_names_are_those_that_http_clients_see(call):
    pattern = path("books/", BookList.as_view(renderer_classes=[CamelCaseJSONRenderer]))
    answer = call("books_list", {"fields": ["bookTitle", "metadata.colour"]}, pattern)
    assert answer.data["results"][0] == {"bookTitle": "Emma", "metadata": {"colour": "red"}}
    (problem,) = call("books_list", {"fields": ["book_title"]}, pattern).problems
    assert problem["remediation"] == "Did you mean 'bookTitle'?"


def test_grouped_arguments_have_it_in_the_query(call):
    answer = call("books_list", {"query": {"fields": "id"}}, ARGUMENTS="grouped")
    assert answer.data == {"results": [{"id": 1}, {"id": 2}]}
    following = answer.envelope["meta"]["pagination"]["next"]
    assert following == {"query": {"fields": "id", "page": 2}}
    arguments = {"kwargs": {"pk": 1}, "query": {"fields": ["idd"]}}
    (problem,) = call("books_retrieve", arguments, ARGUMENTS="grouped").problems
    assert problem["pointer"] == "/query/fields/0"


# --- What is refused ----------------------------------------------------------------------


def test_an_unknown_field_is_refused_with_the_nearest(call):
    refused = call("books_retrieve", {"pk": 1, "fields": ["id", "owner.nam"]})
    assert refused.is_error
    assert refused.code == "VALIDATION_ERROR"
    assert refused.problems == [
        {
            "pointer": "/fields/1",
            "code": "unknown",
            "message": "Unknown field.",
            "received": "owner.nam",
            "remediation": "Did you mean 'owner.name'?",
        }
    ]


def test_what_is_written_only_or_stands_below_a_text_is_an_unknown_field(call):
    for stranger in ("password", "book_title.x"):
        (problem,) = call("books_retrieve", {"pk": 1, "fields": [stranger]}).problems
        assert problem["received"] == stranger
    # Without a nearest one all are told.
    (problem,) = call("books_retrieve", {"pk": 1, "fields": "zzz,id"}).problems
    assert problem["pointer"] == "/fields"
    assert problem["remediation"].startswith("Use one of id, book_title, owner, owner.name")


def test_what_is_no_list_of_names_is_refused(call):
    for wrong in (7, {"id": True}, [{"id": True}], [None]):
        refused = call("books_retrieve", {"pk": 1, "fields": wrong})
        assert refused.code == "INVALID_FORMAT", wrong
        assert refused.problems[0]["accepted"] == "an array of strings", wrong


def test_a_great_many_unknown_fields_are_refused_by_the_first(call):
    wrong = [f"field {n}" for n in range(5_000)]
    refused = call("books_retrieve", {"pk": 1, "fields": wrong}, MAX_ERROR_TOKENS=None)
    assert len(refused.problems) == 20


# --- What is known only when the view answers ----------------------------------------------


def test_below_a_field_of_any_json_every_name_may_be_asked_for(call):
    wanted = ["metadata.size.height", "first_letter.letter", "metadata.weight"]
    answer = call("books_retrieve", {"pk": 1, "fields": wanted})
    assert answer.data == {"metadata": {"size": {"height": 3}}, "first_letter": {"letter": "E"}}


def test_the_rows_of_an_answer_that_is_not_known_are_selected(call):
    answer = call("books_list", {"fields": ["owner.name"]}, path("books/", Extended.as_view()))
    assert answer.data == {"results": [{"owner": {"name": "Ann"}}] * 2}
    assert "warnings" not in answer.envelope["meta"]


def test_a_field_that_such_an_answer_lacks_is_a_warning_beside_the_others(call):
    arguments = {"fields": ["id", "book_titel", "owner.name"]}
    answer = call("books_list", arguments, path("books/", Extended.as_view()))
    assert answer.data["results"][0] == {"id": 1, "owner": {"name": "Ann"}}
    (warning,) = answer.envelope["meta"]["warning_details"]
    assert warning["code"] == "UNKNOWN_FIELD"
    assert "'book_titel'" in warning["message"]
    assert "Did you mean 'book_title'?" in json.dumps(warning)


def test_an_answer_that_has_none_of_the_fields_is_given_whole_and_says_so(call):
    whole = call("books_list", {}, path("books/", Extended.as_view()))
    answer = call("books_list", {"fields": ["titel"]}, path("books/", Extended.as_view()))
    assert answer.data == whole.data
    (warning,) = answer.envelope["meta"]["warning_details"]
    assert warning["code"] == "UNKNOWN_FIELD"
    assert "book_title" in json.dumps(warning)


def test_an_answer_without_rows_lacks_no_field(call):
    empty = type("Empty", (Extended,), {"get_queryset": lambda self: []})
    answer = call("books_list", {"fields": ["anything"]}, path("books/", empty.as_view()))
    assert answer.data == {"results": []}
    assert "warnings" not in answer.envelope["meta"]


def test_a_member_that_a_nested_serializer_adds_may_be_asked_for(call):
    answer = call("books_retrieve", {"pk": 1, "fields": ["label.length"]})
    assert answer.data == {"label": {"length": 3}}


class PricedSerializer(BookSerializer):
    """Gives staff one field more."""

    def get_fields(self):
        fields = super().get_fields()
        if self.context["request"].user.is_staff:
            fields["cost"] = serializers.IntegerField(default=7)
        return fields


class PricedDetail(BookDetail):
    serializer_class = PricedSerializer

    def get_object(self):
        return {**super().get_object(), "cost": 7}


def test_fields_that_depend_on_the_caller_are_not_enumerated(argument):
    shown = argument(PricedDetail.as_view(), "books/<int:pk>/")
    assert shown["items"] == {"type": "string"}
    assert "Among them: id, book_title" in shown["description"]


def test_a_field_that_only_some_callers_get_is_not_refused(expose, db):
    expose(path("books/<int:pk>/", PricedDetail.as_view()))
    for name, is_staff in (("x", True), ("y", False)):
        client = MCPClient()
        user = get_user_model().objects.create(username=name, is_staff=is_staff)
        client.force_authenticate(user)
        result = client.call_tool("books_retrieve", {"pk": 1, "fields": ["id", "cost"]})
        assert result.data == ({"id": 1, "cost": 7} if is_staff else {"id": 1})


# --- Parity, envelopes, budget -------------------------------------------------------------


def test_the_answer_is_https_narrowed(alice, http_of):
    over_http = http_of("alice").get("/api/orders/?page_size=3").json()
    for selected in (["number", "lines.quantity"], ["id", "customer"]):
        result = alice.call("orders_list", fields=selected, page_size=3)
        assert result.data["results"] == FieldSelection(selected).select(over_http)["results"]
        assert result.envelope["meta"]["pagination"]["next"]["fields"] == selected


def test_parity_counts_the_fields_asked_for(call, db):
    call("books_list", {})
    assert_tool_parity(MCPClient(), "books_retrieve", {"pk": 1, "fields": ["id"]})


class Lines(serializers.Serializer):
    lines = OwnerSerializer(many=True)
    number = serializers.CharField()


class LinesView(generics.ListAPIView):
    permission_classes = []
    serializer_class = Lines

    def get_queryset(self):
        return [{"number": "1", "lines": [BOOKS[0]["owner"]]}]


def test_a_selection_is_valid_by_the_output_schema(expose):
    """Every result of a test is held against the schema of its tool."""
    for kind in ("envelope", "full"):
        expose(path("orders/", LinesView.as_view()), OUTPUT_SCHEMA=kind)
        for revision in REVISIONS:
            agent = Agent(Client(), revision=revision)
            result = agent.call("orders_list", fields=["lines.name"])
            assert result.data == {"results": [{"lines": [{"name": "Ann"}]}]}


def test_each_envelope_holds_the_selection(call):
    arguments, rows = {"fields": ["id"]}, [{"id": 1}, {"id": 2}]
    envelopes = {
        envelope: call("books_list", arguments, ENVELOPE_CLASS=envelope).envelope
        for envelope in (ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope)
    }
    assert envelopes[ResponseV2Envelope]["data"] == {"results": rows}
    assert envelopes[StatusEnvelope]["data"] == {"results": rows}
    assert envelopes[PlainEnvelope]["results"] == envelopes[OkEnvelope]["data"] == rows
    assert envelopes[PlainEnvelope]["count"] == 3


def test_the_content_hash_is_of_what_is_sent(call):
    def hash_of(**arguments) -> str:
        answer = call("books_retrieve", {"pk": 1, **arguments}, ENVELOPE_CLASS=OkEnvelope)
        return answer.envelope["meta"]["content_hash"]

    assert hash_of(fields=["id"]) == hash_of(fields="id") != hash_of()


def test_asking_for_less_is_done_before_the_result_is_shortened(call, monkeypatch):
    long = [{**BOOKS[0], "metadata": {"story": "Once. " * 1000}}]
    monkeypatch.setattr(BookList, "get_queryset", lambda view: long)
    limit = {"MAX_RESULT_TOKENS": 1000}
    (warning,) = call("books_list", {}, **limit).envelope["meta"]["warning_details"]
    assert warning["code"] == "CONTENT_TRUNCATED"
    assert warning["message"].endswith(
        "Or ask for the fields you need only, in the argument 'fields'."
    )
    less = call("books_list", {"fields": ["id", "owner"]}, **limit)
    assert less.data == {"results": [{"id": 1, "owner": BOOKS[0]["owner"]}]}
    assert "content_fidelity" not in less.envelope["meta"]


def test_where_no_fields_can_be_named_nothing_is_said_of_them(call, monkeypatch):
    long = [{**BOOKS[0], "metadata": {"story": "Once. " * 1000}}]
    monkeypatch.setattr(BookList, "get_queryset", lambda view: long)
    answer = call("books_list", {}, MAX_RESULT_TOKENS=1000, FIELDS_ARGUMENT=False)
    assert "'fields'" not in json.dumps(answer.envelope["meta"])
