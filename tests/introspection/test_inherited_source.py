"""Source that many views inherit is read once, and each further view costs little."""

from __future__ import annotations

import sys

import pytest
from django.contrib.auth.models import Group
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from drf_mcp.introspection.source import trees
from tests.introspection.inspected import METHODS, by_name, described

# To describe one action of a view set that inherits everything, and to check its schema, takes
# 7,060 calls; it took 17,400 when the mixins were read again for each class.
MOST_CALLS = 8_500


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class Narrowed:
    """Reads query parameters, one by a name in a class attribute."""

    archived_param = "archived"

    def get_queryset(self):
        rows = super().get_queryset()
        if self.request.query_params.get(self.archived_param):
            rows = rows.filter(name="")
        return self.narrow(rows, "region")

    def narrow(self, rows, name):
        region = self.request.query_params.get(name)
        return rows.filter(name=region) if region else rows


class Audited:
    """Reads a key of the body that is no field."""

    def perform_create(self, serializer):
        serializer.save()
        self.write_reason(self.request)

    def write_reason(self, request):
        return request.data.get("reason", "")


class Imported:
    @action(detail=False, methods=["post"])
    def bring_in(self, request):
        for name in ("first", "second"):
            self.write_reason(request.data[name])
        return Response({"rows": request.data.get("rows", []), "file": request.FILES["sheet"]})


class Base(Narrowed, Audited, Imported, viewsets.ModelViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer


def make_viewsets(count: int) -> list[type]:
    return [type(f"Number{number}ViewSet", (Base,), {}) for number in range(count)]


def describe_all(classes: list[type]) -> None:
    for each in classes:
        for name, method in METHODS.items():
            described(each, method, name)


def count_calls(step) -> int:
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(before)
    return count


@pytest.fixture
def walked(monkeypatch):
    """The syntax trees that are walked."""
    found = []
    walk = trees.ast.walk
    monkeypatch.setattr(trees.ast, "walk", lambda node: found.append(node) or walk(node))
    return found


def test_a_class_with_another_name_in_its_attribute_reads_this_parameter():
    describe_all(make_viewsets(1))

    class Other(Base):
        archived_param = "in_archive"

    assert "in_archive" in by_name(described(Other, "GET", "list").query)
    assert "archived" not in by_name(described(Other, "GET", "list").query)
    assert "archived" in by_name(described(Base, "GET", "list").query)


def test_a_class_with_another_method_reads_the_parameters_of_this_method():
    describe_all(make_viewsets(1))

    class Other(Base):
        def narrow(self, rows, name, further="country"):
            return self.request.query_params.get(further) and rows

    names = by_name(described(Other, "GET", "list").query)
    assert "country" in names
    assert "region" not in names
    assert "region" in by_name(described(Base, "GET", "list").query)


def test_functions_with_the_same_code_and_different_closures_are_read_apart():
    def make(serializer_class):
        def handle(self, request):
            return Response(serializer_class(data=request.data).initial_data)

        return handle

    class First(serializers.Serializer):
        first = serializers.CharField()

    class Second(serializers.Serializer):
        second = serializers.CharField()

    for one in (First, Second):
        view = type("View", (viewsets.ViewSet,), {"take": action(detail=False)(make(one))})
        found = by_name(described(view, "POST", "take").body.fields)
        assert list(found) == [one.__name__.lower()]
