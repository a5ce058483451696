"""The argument ``fields`` of reads selects fields of the answer."""

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
from rest_framework.response import Response

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.exceptions import SoftFailure
from drf_mcp.exposure import mcp_tool, registry
from drf_mcp.introspection.field_selection import FieldSelection, SelectableFields
from drf_mcp.outcomes import Outcome
from drf_mcp.test import MCPClient
from drf_mcp.test.parity import assert_tool_parity
from drf_mcp.transports.http_equivalent import EquivalentRequest
from tests.agents import REVISIONS, Agent, Result

SHOP_READS = {
    f"{prefix}_{action}"
    for prefix in ("customers", "products", "orders", "customers_orders", "tickets", "documents")
    for action in ("list", "retrieve")
} | {"documents_texts"}


class OwnerSerializer(serializers.Serializer):
    name = serializers.CharField()
    mail = serializers.CharField()


class LabelledSerializer(serializers.Serializer):
    """Adds a member that is no field."""

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
    """Declares a query parameter that is named fields too."""

    def filter_queryset(self, request, queryset, view):
        return queryset

    def get_schema_operation_parameters(self, view) -> list[dict]:
        return [{"name": "fields", "in": "query", "schema": {"type": "string"}}]


@pytest.fixture
def call(expose):
    """Serve the books, or one other view, and call a tool."""

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
    """Returns the schema of ``fields`` for the tool of a view, or None if the tool has none."""

    def shown(view, route: str = "books/", **mcp_settings) -> Any:
        expose(path(route, view), **mcp_settings)
        tool = next(iter(registry.tools().values()))
        fields = tool.arguments.fields
        return None if fields is None else fields.parameter.schema

    return shown


# --- Tools with the argument --------------------------------------------------------------


@pytest.mark.slow
def test_the_reads_of_the_example_project_have_fields(carol):
    tools = carol.tools()
    shown = {name for name, tool in tools.items() if "fields" in tool["inputSchema"]["properties"]}
    short = {name for name in SHOP_READS if name.endswith("_retrieve")} - {"tickets_retrieve"}
    unknown = {
        name
        for name, tool in registry.tools().items()
        if tool.takes_fields and not SelectableFields(tool.schema.output).find_paths()
    }
    assert shown == ((SHOP_READS - short) | unknown) & {*tools}
    assert "orders_list" in shown


def test_a_read_of_one_short_flat_object_accepts_fields_and_does_not_list_it(call):
    class FlatSerializer(serializers.Serializer):
        id = serializers.IntegerField()
        book_title = serializers.CharField()

    view = type("Flat", (BookDetail,), {"serializer_class": FlatSerializer}).as_view()
    answer = call("books_retrieve", {"pk": 1, "fields": ["id"]}, path("books/<int:pk>/", view))
    assert answer.data == {"id": 1}
    assert "fields" not in registry.tools()["books_retrieve"].input_schema["properties"]


def test_the_paths_of_the_serializer_are_an_enum(argument):
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


def test_more_than_twelve_paths_are_a_pattern(argument):
    fields = {f"field_{n}": serializers.CharField() for n in range(12)}
    wide = type("Wide", (serializers.Serializer,), {"owner": OwnerSerializer(), **fields})
    pattern = argument(BookList.as_view(serializer_class=wide))["items"]["pattern"]
    assert r"|owner(\.(name|mail))?)$" in pattern
    tried = ["owner.mail", "field_11", "mail", "field_0.mail"]
    assert [path for path in tried if re.search(pattern, path)] == ["owner.mail", "field_11"]


def test_many_or_long_paths_are_in_the_description(argument):
    owner = {"owner": OwnerSerializer()}
    fields = {f"field_{n}": serializers.CharField() for n in range(50)}
    wide = type("Wide", (serializers.Serializer,), {**owner, **fields})
    shown = argument(BookList.as_view(serializer_class=wide))
    assert shown["items"] == {"type": "string"}
    sentence = "Nested ones by dots, such as owner.name. Among them: owner, field_0,"
    assert sentence in shown["description"]
    assert shown["description"].endswith("field_38, ….")

    fields = {letter * 150: serializers.CharField() for letter in "abcde"}
    long = type("Long", (serializers.Serializer,), fields)
    shown = argument(BookList.as_view(serializer_class=long))
    assert shown["items"] == {"type": "string"}
    assert len(shown["description"]) < 800


class Extended(BookList):
    """Makes its answer by code of its own, so the fields of the answer are not known."""

    def list(self, request, *args, **kwargs):
        return Response({**super().list(request, *args, **kwargs).data})


def test_an_unknown_answer_accepts_any_field(argument):
    any_field = {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only these fields of the answer.",
    }
    assert argument(Extended.as_view()) == any_field
    assert argument(BookList.as_view(serializer_class=LabelledSerializer)) == any_field


def test_writes_and_views_with_their_own_fields_have_no_such_argument(argument):
    """It may be switched off, or the name may be taken by a filter, a path or a declaration."""
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
    # With an open query an argument of this name may be the view's own.
    for arguments in ("flat", "grouped"):
        for is_open in (True, False):
            shown = argument(books, ARGUMENTS=arguments, EXTRA_QUERY=is_open)
            assert (shown is None) is is_open, arguments


# --- Selected answers ---------------------------------------------------------------------


def test_the_fields_of_an_object_may_be_written_in_several_ways(call):
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


def test_the_rows_of_a_page_and_of_the_next_have_the_selected_fields(call):
    answer = call("books_list", {"fields": ["id"]})
    assert answer.data == {"results": [{"id": 1}, {"id": 2}]}
    page = answer.envelope["meta"]["pagination"]
    assert page["total_count"] == 3
    assert page["next"] == {"fields": ["id"], "page": 2}


def test_the_view_does_not_get_the_argument(call):
    call("books_list", {})
    request = EquivalentRequest.of_call(registry.tool("books_list"), {"page": 2, "fields": ["id"]})
    assert request.path == "/books/?page=2"


def test_an_error_does_not_change(call):
    answer = call("books_retrieve", {"pk": 9, "fields": ["id"]})
    assert answer.code == "NOT_FOUND"
    assert answer.envelope["error"] == "Not found."


def test_a_soft_failure_keeps_its_data(call):
    class Refusing(BookDetail):
        def get(self, request, pk):
            raise SoftFailure("No.", "no", data={"answer": 1})

    pattern = path("books/<int:pk>/", Refusing.as_view())
    answer = call("books_retrieve", {"pk": 1, "fields": ["id"]}, pattern)
    assert answer.data["answer"] == 1


def test_an_answer_that_is_no_object_does_not_change():
    for data in (None, "some text", 7):
        outcome = Outcome("books_retrieve", 200, data)
        assert FieldSelection(["id"]).select(outcome.data) == data


def test_the_names_are_those_of_the_renderer(call):
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


# --- Refused values -----------------------------------------------------------------------


def test_an_unknown_field_is_refused_with_the_similar_name(call):
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


def test_a_write_only_field_and_a_path_below_a_text_are_unknown_fields(call):
    for stranger in ("password", "book_title.x"):
        (problem,) = call("books_retrieve", {"pk": 1, "fields": [stranger]}).problems
        assert problem["received"] == stranger
    # Without a similar name all names are given.
    (problem,) = call("books_retrieve", {"pk": 1, "fields": "zzz,id"}).problems
    assert problem["pointer"] == "/fields"
    assert problem["remediation"].startswith("Use one of id, book_title, owner, owner.name")


def test_a_value_that_is_no_list_of_names_is_refused(call):
    for wrong in (7, {"id": True}, [{"id": True}], [None]):
        refused = call("books_retrieve", {"pk": 1, "fields": wrong})
        assert refused.code == "INVALID_FORMAT", wrong
        assert refused.problems[0]["accepted"] == "an array of strings", wrong


def test_of_many_unknown_fields_the_first_are_refused(call):
    wrong = [f"field {n}" for n in range(100)]
    refused = call("books_retrieve", {"pk": 1, "fields": wrong}, MAX_ERROR_TOKENS=None)
    assert len(refused.problems) == 20


# --- Fields that are known only from the answer --------------------------------------------


def test_below_a_json_field_any_name_can_be_selected(call):
    wanted = ["metadata.size.height", "first_letter.letter", "metadata.weight"]
    answer = call("books_retrieve", {"pk": 1, "fields": wanted})
    assert answer.data == {"metadata": {"size": {"height": 3}}, "first_letter": {"letter": "E"}}


def test_the_rows_of_an_unknown_answer_are_selected(call):
    answer = call("books_list", {"fields": ["owner.name"]}, path("books/", Extended.as_view()))
    assert answer.data == {"results": [{"owner": {"name": "Ann"}}] * 2}
    assert "warnings" not in answer.envelope["meta"]


def test_a_field_that_an_unknown_answer_does_not_have_is_a_warning(call):
    arguments = {"fields": ["id", "book_titel", "owner.name"]}
    answer = call("books_list", arguments, path("books/", Extended.as_view()))
    assert answer.data["results"][0] == {"id": 1, "owner": {"name": "Ann"}}
    (warning,) = answer.envelope["meta"]["warning_details"]
    assert warning["code"] == "UNKNOWN_FIELD"
    assert "'book_titel'" in warning["message"]
    assert "Did you mean 'book_title'?" in json.dumps(warning)


def test_an_unknown_answer_with_none_of_the_fields_is_returned_whole_with_a_warning(call):
    whole = call("books_list", {}, path("books/", Extended.as_view()))
    answer = call("books_list", {"fields": ["titel"]}, path("books/", Extended.as_view()))
    assert answer.data == whole.data
    (warning,) = answer.envelope["meta"]["warning_details"]
    assert warning["code"] == "UNKNOWN_FIELD"
    assert "book_title" in json.dumps(warning)


def test_an_unknown_answer_without_rows_has_no_warning(call):
    empty = type("Empty", (Extended,), {"get_queryset": lambda self: []})
    answer = call("books_list", {"fields": ["anything"]}, path("books/", empty.as_view()))
    assert answer.data == {"results": []}
    assert "warnings" not in answer.envelope["meta"]


def test_a_member_that_a_nested_serializer_adds_can_be_selected(call):
    answer = call("books_retrieve", {"pk": 1, "fields": ["label.length"]})
    assert answer.data == {"label": {"length": 3}}


class PricedSerializer(BookSerializer):
    """Has one more field for staff."""

    def get_fields(self):
        fields = super().get_fields()
        if self.context["request"].user.is_staff:
            fields["cost"] = serializers.IntegerField(default=7)
        return fields


class PricedDetail(BookDetail):
    serializer_class = PricedSerializer

    def get_object(self):
        return {**super().get_object(), "cost": 7}


def test_fields_that_depend_on_the_caller_are_no_enum(argument):
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


def test_the_selected_rows_are_those_of_http(alice, http_of):
    over_http = http_of("alice").get("/api/orders/?page_size=3").json()
    for selected in (["number", "lines.quantity"], ["id", "customer"]):
        result = alice.call("orders_list", fields=selected, page_size=3)
        assert result.data["results"] == FieldSelection(selected).select(over_http)["results"]
        assert result.envelope["meta"]["pagination"]["next"]["fields"] == selected


def test_assert_tool_parity_selects_the_fields_of_the_http_answer(call, db):
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
    """The agent validates every result by the schema of its tool."""
    for kind in ("envelope", "full"):
        expose(path("orders/", LinesView.as_view()), OUTPUT_SCHEMA=kind)
        for revision in REVISIONS:
            agent = Agent(Client(), revision=revision)
            result = agent.call("orders_list", fields=["lines.name"])
            assert result.data == {"results": [{"lines": [{"name": "Ann"}]}]}


def test_every_envelope_has_the_selection(call):
    arguments, rows = {"fields": ["id"]}, [{"id": 1}, {"id": 2}]
    envelopes = {
        envelope: call("books_list", arguments, ENVELOPE_CLASS=envelope).envelope
        for envelope in (ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope)
    }
    assert envelopes[ResponseV2Envelope]["data"] == {"results": rows}
    assert envelopes[StatusEnvelope]["data"] == {"results": rows}
    assert envelopes[PlainEnvelope]["results"] == envelopes[OkEnvelope]["data"] == rows
    assert envelopes[PlainEnvelope]["count"] == 3


def test_the_content_hash_is_that_of_the_selection(call):
    def hash_of(**arguments) -> str:
        answer = call("books_retrieve", {"pk": 1, **arguments}, ENVELOPE_CLASS=OkEnvelope)
        return answer.envelope["meta"]["content_hash"]

    assert hash_of(fields=["id"]) == hash_of(fields="id") != hash_of()


def test_fields_are_selected_before_the_result_is_shortened(call, monkeypatch):
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


def test_a_tool_without_the_argument_does_not_suggest_it(call, monkeypatch):
    long = [{**BOOKS[0], "metadata": {"story": "Once. " * 1000}}]
    monkeypatch.setattr(BookList, "get_queryset", lambda view: long)
    answer = call("books_list", {}, MAX_RESULT_TOKENS=1000, FIELDS_ARGUMENT=False)
    assert "'fields'" not in json.dumps(answer.envelope["meta"])
