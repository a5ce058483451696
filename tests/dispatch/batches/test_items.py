"""A call with several items makes a request for each; all are written or a part."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.serializers import CharField, ModelSerializer
from rest_framework.throttling import AnonRateThrottle
from rest_framework.viewsets import ModelViewSet

from drf_mcp.exposure import mcp_viewset
from tests.dispatch.batches.conftest import IsNoSecret
from tests.dispatch.batches.partial_results import READERS

CREATE, UPDATE = "teams_create", "teams_partial_update"


class TeamSerializer(ModelSerializer):
    password = CharField(write_only=True, required=False)

    class Meta:
        model = Group
        fields = ["id", "name", "password"]

    def create(self, validated_data):
        validated_data.pop("password", None)
        return super().create(validated_data)


class UnvalidatedSerializer(TeamSerializer):
    name = CharField()


class ThreeAMinute(AnonRateThrottle):
    rate = "3/min"


class Teams(ModelViewSet):
    authentication_classes = []
    permission_classes = [IsNoSecret]
    queryset = Group.objects.order_by("pk")
    serializer_class = TeamSerializer


@mcp_viewset(bulk=True, bulk_limit=5, if_match="name")
class Wholly(Teams):
    pass


@mcp_viewset(bulk="partial")
class Partly(Teams):
    pass


class Throttled(Wholly):
    throttle_classes = [ThreeAMinute]


mcp_viewset(bulk=True)(Throttled)


@mcp_viewset(bulk=True, dry_run=True)
class Tried(Teams):
    pass


def routes_of(view_class):
    one = {"patch": "partial_update", "get": "retrieve", "delete": "destroy"}
    return [
        path("teams/", view_class.as_view({"post": "create", "get": "list"})),
        path("teams/<int:pk>/", view_class.as_view(one)),
    ]


@pytest.fixture
def serve_all_or_none(serve):
    return serve(*routes_of(Wholly))


@pytest.fixture
def serve_partial(serve):
    return serve(*routes_of(Partly))


def names() -> list[str]:
    return list(Group.objects.order_by("pk").values_list("name", flat=True))


def test_each_created_item_is_answered_at_its_index(serve_all_or_none, db):
    data = serve_all_or_none().call(CREATE, items=[{"name": "a"}, {"name": "b"}]).data
    assert [row["name"] for row in data["results"]] == names() == ["a", "b"]


def test_one_object_can_be_written_without_items(serve_all_or_none, ids):
    assert not serve_all_or_none().call(UPDATE, pk=ids[0], name="rose").is_error
    assert not serve_all_or_none().call(CREATE, name="a").is_error
    assert names() == ["rose", "green", "secret", "a"]


def test_if_one_item_is_refused_nothing_is_written_and_all_problems_are_returned(
    serve_all_or_none, ids
):
    sent = [{"name": "a"}, {"name": ""}, {"name": "b"}, {"name": "red"}]
    result = serve_all_or_none().call(CREATE, items=sent)
    assert result.is_error
    assert result.envelope["error"].startswith("Nothing was written. 2 of 4 failed.")
    problems = [(problem["pointer"], problem["code"]) for problem in result.problems]
    assert problems == [("/items/1/name", "blank"), ("/items/3/name", "unique")]
    assert names() == ["red", "green", "secret"]


def test_two_items_that_break_a_unique_constraint_together_are_a_problem_of_the_second(
    serve_all_or_none, db
):
    result = serve_all_or_none().call(CREATE, items=[{"name": "a"}, {"name": "a"}])
    (problem,) = result.problems
    assert (problem["pointer"], problem["code"]) == ("/items/1/name", "unique")
    assert names() == []


def test_object_permissions_are_checked_for_each_item(serve_all_or_none, ids):
    red, _, secret = ids
    result = serve_all_or_none().call(
        UPDATE, items=[{"pk": red, "name": "a"}, {"pk": secret, "name": "b"}]
    )
    (problem,) = result.problems
    assert (problem["pointer"], problem["code"]) == ("/items/1", "FORBIDDEN")
    assert result.code == "FORBIDDEN"
    assert names() == ["red", "green", "secret"]


def test_each_item_counts_for_the_throttles_of_the_view(serve, db):
    agent = serve(*routes_of(Throttled))()
    result = agent.call(CREATE, items=[{"name": str(number)} for number in range(5)])
    assert result.code == "RATE_LIMIT_EXCEEDED"
    assert [problem["pointer"] for problem in result.problems] == ["/items/3", "/items/4"]
    assert names() == []


@pytest.mark.parametrize(
    ("sent", "pointer", "names"),
    [
        ({"items": [{"colour": "x", "name": "a"}]}, "/items/0/colour", "name, password"),
        ({"items": [{"name": "a"}], "colour": "x"}, "/colour", "dry_run, items"),
    ],
    ids=["in an item", "next to items"],
)
def test_an_unknown_argument_is_answered_with_the_names_for_its_place(
    serve, db, sent, pointer, names
):
    [problem] = serve(*routes_of(Tried))().call(CREATE, **sent).problems
    assert problem["pointer"] == pointer
    assert problem["remediation"] == f"Use one of {names}."


def test_unknown_arguments_and_missing_keys_are_refused_before_any_query(serve_all_or_none, ids):
    with CaptureQueriesContext(connection) as queries:
        result = serve_all_or_none().call(
            UPDATE, items=[{"pk": ids[0], "nmae": "a"}, {"name": "b"}, 3]
        )
    assert len(queries) == 0
    problems = [(problem["pointer"], problem["code"]) for problem in result.problems]
    assert problems == [
        ("/items/0/nmae", "unknown"),
        ("/items/1/id", "required"),
        ("/items/2", "invalid"),
    ]


@pytest.mark.parametrize(
    ("items", "code"), [([], "empty"), ([{"name": "a"}] * 6, "max_length"), ("no", "not_a_list")]
)
def test_an_empty_list_and_too_many_items_are_refused(serve_all_or_none, db, items, code):
    (problem,) = serve_all_or_none().call(CREATE, items=items).problems
    assert (problem["pointer"], problem["code"]) == ("/items", code)


def test_each_item_has_its_own_if_match(serve_all_or_none, ids):
    red, green, _ = ids
    sent = [
        {"pk": red, "name": "a", "if_match": "red"},
        {"pk": green, "name": "b", "if_match": "blue"},
    ]
    result = serve_all_or_none().call(UPDATE, items=sent)
    (problem,) = result.problems
    assert (problem["pointer"], problem["code"]) == ("/items/1/if_match", "stale")
    assert problem["context"]["current"] == {"id": green, "name": "green"}
    assert names() == ["red", "green", "secret"]
    sent[1]["if_match"] = "green"
    assert not serve_all_or_none().call(UPDATE, items=sent).is_error


def test_partial_writes_keep_what_worked_and_every_envelope_names_the_rest(serve_partial, ids):
    red, green, _ = ids
    code = "PARTIAL_FAILURE"
    context = {"failed_items": [1], "successful_items": 1, "total_items": 2}
    sentence = (
        "1 of 2 failed. items[1]: DUPLICATE_ENTRY, name: group with this name already exists."
    )
    for number, (envelope, read) in enumerate(READERS.items()):
        sent = [{"pk": red, "name": f"red {number}"}, {"pk": green, "name": "secret"}]
        raw = serve_partial(envelope).call(UPDATE, items=sent).raw
        rows = [{"id": red, "name": f"red {number}"}, None]
        expected = {
            "response_v2": (True, rows, code, context),
            "ok": (False, rows, [("unique", "items[1].name")], sentence),
            "status": ("partial_success", True, rows, code.lower(), context),
            "plain": (rows, code, context),
        }
        assert "isError" not in raw
        assert read(raw) == expected[envelope]
        assert names() == [f"red {number}", "green", "secret"]


def test_the_tool_describes_items_and_plain_http_ignores_them(serve_all_or_none, ids):
    agent = serve_all_or_none()
    schema = agent.tools()[UPDATE]["inputSchema"]
    items = schema["properties"]["items"]
    assert (items["maxItems"], items["items"]["required"]) == (5, ["id"])
    assert set(items["items"]["properties"]) == {"id", "name", "password", "if_match"}
    assert (set(schema["properties"]), schema["required"]) == ({"items"}, ["items"])
    body = {"items": [{"name": "a"}], "name": "b"}
    assert agent.http.post("/teams/", body, "application/json").json()["name"] == "b"


@given(valid=st.lists(st.booleans(), min_size=1, max_size=5))
def test_each_pointer_has_the_index_of_the_refused_item(serve_all_or_none, db, valid):
    before = names()
    sent = [{"name": f"n{place}" if good else ""} for place, good in enumerate(valid)]
    result = serve_all_or_none().call(CREATE, items=sent)
    wrong = [f"/items/{place}/name" for place, good in enumerate(valid) if not good]
    if wrong:
        assert [problem["pointer"] for problem in result.problems] == wrong
        assert names() == before
    else:
        assert len(result.data["results"]) == len(valid)
        Group.objects.all().delete()


def test_a_dry_run_writes_no_item(serve, db):
    agent = serve(*routes_of(Tried))()
    result = agent.call(CREATE, items=[{"name": "a"}, {"name": "b"}], dry_run=True)
    assert [row["name"] for row in result.data["results"]] == ["a", "b"]
    assert result.envelope["meta"]["dry_run"] == {"note": "Dry run: nothing was changed."}
    assert names() == []
