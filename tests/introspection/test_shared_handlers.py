"""One handler for several methods: each is described by what it does for that one."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from drf_spectacular.utils import extend_schema
from rest_framework import filters, pagination, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response

from tests.introspection.inspected import describe, described, view_of


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class NoteSerializer(serializers.Serializer):
    text = serializers.CharField()


class Groups(viewsets.GenericViewSet):
    queryset = Group.objects.all()
    serializer_class = GroupSerializer
    pagination_class = pagination.LimitOffsetPagination
    filter_backends = [filters.SearchFilter]
    search_fields = ["name"]

    def add(self, request):
        serializer = NoteSerializer(data=request.data)
        return Response(serializer.is_valid())

    def page(self):
        return Response(self.paginate_queryset(self.filter_queryset(self.get_queryset())))

    @action(detail=False, methods=["get", "post", "delete"])
    def by_branches(self, request):
        if request.method == "GET":
            answer = self.page()
        elif request.method == "POST":
            answer = self.add(request)
        else:
            answer = Response()
        return answer

    @action(detail=False, methods=["get", "post", "delete"])
    def by_leaving(self, request):
        with open(__file__):
            if self.request.method in SAFE_METHODS:
                return self.page()
            if not request.method == "POST":  # noqa: SIM201
                return Response()
        return self.add(request)

    @action(detail=False, methods=["get", "post", "delete"])
    def by_exclusion(self, request):
        if request.method not in ("POST", "DELETE") or request.method == "HEAD":
            return self.page()
        if request.method == "POST" and request.user:
            return self.add(request)
        return Response()

    @action(detail=False, methods=["get", "post", "delete"])
    def by_another_condition(self, request):
        if request.user == "POST":
            return self.page()
        return self.add(request)


SHARED = ["by_branches", "by_leaving", "by_exclusion"]


@pytest.mark.parametrize("name", SHARED)
def test_only_the_method_that_lists_is_filtered_and_has_pages(name):
    names = {m: [p.name for p in described(Groups, m, name).query] for m in ("GET", "POST")}
    assert names == {"GET": ["search", "limit", "offset"], "POST": []}


@pytest.mark.parametrize("name", SHARED)
def test_only_the_method_that_reads_a_body_takes_one(name):
    assert [p.name for p in described(Groups, "POST", name).body.fields] == ["text"]
    assert described(Groups, "DELETE", name).body.kind == "none"


def test_another_condition_chooses_nothing():
    assert [p.name for p in described(Groups, "DELETE", "by_another_condition").query]
    assert described(Groups, "DELETE", "by_another_condition").body.kind == "object"


def test_what_was_written_for_several_methods_is_required_of_no_delete():
    class Noted(viewsets.GenericViewSet):
        queryset = Group.objects.all()

        @extend_schema(request=NoteSerializer)
        def notes(self, request):
            return Response(request.data)

    for methods, required in (
        ({"delete": "notes"}, True),
        ({"post": "notes", "delete": "notes"}, False),
    ):
        view = view_of(Noted, "DELETE", "notes")
        view.action_map = methods
        (field,) = describe(view, "DELETE", {}).body.fields
        assert field.required is required


def test_what_was_written_counts_for_no_delete_that_reads_no_body():
    class Closed(viewsets.GenericViewSet):
        queryset = Group.objects.all()

        @extend_schema(request=NoteSerializer)
        def destroy(self, request, pk):
            return Response()

    assert described(Closed, "DELETE", "destroy").body.kind == "none"
