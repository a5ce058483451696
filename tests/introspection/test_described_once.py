"""A serializer or context that does not depend on its view is described once."""

from __future__ import annotations

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
