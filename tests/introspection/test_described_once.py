"""A serializer or context that does not depend on its view is described once."""

from __future__ import annotations

import functools

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from rest_framework import generics, serializers
from rest_framework.filters import OrderingFilter

from drf_mcp.introspection import Inspection
from tests.introspection.inspected import described, view_of

MADE: list[str] = []


class Parcel(serializers.Serializer):
    """Keeps only some fields if the view names them, as NetBox's serializers do."""

    weight = serializers.IntegerField()
    label = serializers.CharField(required=False)

    def __init__(self, *args, fields=None, **kwargs):
        MADE.append("serializer")
        self.kept = fields or []
        super().__init__(*args, **kwargs)

    def get_fields(self):
        made = super().get_fields()
        return {name: made[name] for name in made if name in self.kept or not self.kept}

    def validate(self, attrs):
        return {**attrs, "owner": self.context["request"].user}


class Parcels(generics.CreateAPIView):
    serializer_class = Parcel

    def get_serializer(self, *args, **kwargs):
        names = self.request.query_params.get("fields")
        kwargs.setdefault("fields", names and names.split(","))
        return super().get_serializer(*args, **kwargs)


class OtherParcel(Parcel):
    note = serializers.CharField()


@pytest.fixture(autouse=True)
def clear_made():
    MADE.clear()


class Carrier(serializers.Serializer):
    """Reads a member that the view adds to its context."""

    weight = serializers.IntegerField()

    def get_fields(self):
        return {**super().get_fields(), **self.context["further"]}


class Carriers(generics.CreateAPIView):
    serializer_class = Carrier

    def get_serializer_context(self):
        MADE.append("context")
        return {**super().get_serializer_context(), "further": {"note": serializers.CharField()}}


def test_a_views_own_context_is_made_when_a_serializer_reads_an_added_member():
    assert {field.name for field in described(Carriers, "POST").body.fields} == {"weight", "note"}
    assert MADE == ["context"]


def test_a_views_own_context_is_not_made_if_no_serializer_reads_it():
    view_class = type("View", (Carriers,), {"serializer_class": OtherParcel})
    assert described(view_class, "POST").body.kind == "object"
    assert "context" not in MADE


def test_every_way_to_read_a_context_gives_all_members():
    view = view_of(Carriers, "POST")
    Inspection(view, "POST")
    context = view.get_serializer_context()
    assert context["view"] is view
    assert MADE == []
    assert "further" in {**context}
    assert "further" in view.get_serializer_context()
    assert "further" in view.get_serializer_context().copy()
    assert view.get_serializer_context().get("other", 1) == 1
    assert MADE == ["context"]


@pytest.mark.django_db
def test_a_queryset_that_runs_queries_is_described_without_a_query():
    reached = []

    def count(execute, *args):
        reached.append(execute(*args))
        return reached[-1]

    class Rows(generics.ListAPIView):
        serializer_class = OtherParcel
        queryset = Group.objects.all()
        filter_backends = (OrderingFilter,)
        ordering_fields = ("name",)

        def get_queryset(self):
            rows = super().get_queryset()
            return rows if Group.objects.exists() else rows.none()

    with connection.execute_wrapper(count):
        schema = described(Rows, "GET")
    assert reached == []
    assert [parameter.name for parameter in schema.query] == ["ordering"]
    assert schema.findings == ()


def test_stock_fields_are_built_once_for_all_views(monkeypatch):
    get_fields = serializers.Serializer.get_fields

    @functools.wraps(get_fields)
    def count(self):
        MADE.append(type(self).__name__)
        return get_fields(self)

    monkeypatch.setattr(serializers.Serializer, "get_fields", count)

    class Crate(serializers.Serializer):
        weight = serializers.IntegerField(default=1)

    class Shipment(serializers.Serializer):
        crate = Crate()

    views = [
        type("View", (generics.GenericAPIView,), {"serializer_class": Shipment, verb: lambda s: s})
        for verb in ("post", "put", "patch")
    ]
    post, put, patch = map(described, views, ("POST", "PUT", "PATCH"))
    assert put.body == post.body
    assert [field.required for field in post.body.fields] == [True]
    assert [field.required for field in patch.body.fields] == [False]
    assert MADE.count("Crate") == 1


def test_get_fields_that_does_not_depend_on_the_view_runs_once_for_all_views():
    class Crate(serializers.Serializer):
        weight = serializers.IntegerField(default=1)

        def get_fields(self):
            MADE.append("fields")
            return super().get_fields()

    class Shipment(serializers.Serializer):
        crate = Crate()
        spare = Crate()

    views = [
        type("View", (generics.GenericAPIView,), {"serializer_class": Shipment, verb: lambda s: s})
        for verb in ("post", "put", "patch")
    ]
    post, put, patch = map(described, views, ("POST", "PUT", "PATCH"))
    assert MADE.count("fields") == 1
    assert put.body == post.body
    assert [field.required for field in post.body.fields] == [True, True]
    assert [field.required for field in patch.body.fields] == [False, False]


def test_get_fields_that_depends_on_the_view_runs_for_each_view():
    class Crate(serializers.Serializer):
        weight = serializers.IntegerField()
        note = serializers.CharField()

        def get_fields(self):
            made = super().get_fields()
            return {name: made[name] for name in made if name in self.find_names()}

        def find_names(self):
            return self.context["view"].names

    def find_names(*names):
        view_class = type("View", (generics.CreateAPIView,), {"serializer_class": Crate})
        view_class.names = names
        return [field.name for field in described(view_class, "POST").body.fields]

    assert [find_names("weight"), find_names("note")] == [["weight"], ["note"]]
