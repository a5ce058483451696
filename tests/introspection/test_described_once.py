"""What nothing around a serializer or a context changes is described once."""

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
    """Overrides what NetBox does: fewer fields where the view says so."""

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
def _nothing_made():
    MADE.clear()


class Carrier(serializers.Serializer):
    """Reads what the view adds to the context."""

    weight = serializers.IntegerField()

    def get_fields(self):
        return {**super().get_fields(), **self.context["further"]}


class Carriers(generics.CreateAPIView):
    serializer_class = Carrier

    def get_serializer_context(self):
        MADE.append("context")
        return {**super().get_serializer_context(), "further": {"note": serializers.CharField()}}


def test_a_context_of_the_project_s_own_is_asked_for_once_a_serializer_reads_what_it_adds():
    assert {field.name for field in described(Carriers, "POST").body.fields} == {"weight", "note"}
    assert MADE == ["context"]


def test_a_context_that_no_serializer_reads_is_not_asked_for():
    view_class = type("View", (Carriers,), {"serializer_class": OtherParcel})
    assert described(view_class, "POST").body.kind == "object"
    assert "context" not in MADE


def test_members_of_a_context_are_all_there_however_it_is_read():
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
def test_a_queryset_that_asks_the_database_is_described_without_a_query():
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


def test_fields_that_only_rest_framework_builds_are_built_once_for_all_views(monkeypatch):
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


def test_fields_that_nothing_around_a_serializer_chooses_are_built_once_for_all_views():
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


def test_fields_that_a_view_chooses_are_built_for_each():
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
