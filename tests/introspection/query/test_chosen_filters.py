"""Filters that a view chooses by the call: all of them are described."""

from __future__ import annotations

import django_filters
import pytest
from django.contrib.auth.models import Group
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import filters, generics

from tests.introspection.inspected import by_name, described


class ByName(django_filters.FilterSet):
    class Meta:
        model = Group
        fields = ["name"]


class ByPermission(django_filters.FilterSet):
    class Meta:
        model = Group
        fields = ["permissions"]


class Groups(generics.ListAPIView):
    queryset = Group.objects.all()
    filter_backends = [DjangoFilterBackend]


class OfProperty(Groups):
    @property
    def filterset_class(self):
        by = self.request.query_params.get("by")
        return ByPermission if by == "permission" else ByName


class OfFields(Groups):
    @property
    def filterset_fields(self):
        return ["permissions"] if self.request.GET.get("by") == "permission" else ["name"]


class OfBackends(Groups):
    filterset_class = ByName
    search_fields = ["name"]

    @property
    def filter_backends(self):
        is_search = self.request.query_params.get("mode") == "search"
        return [filters.SearchFilter] if is_search else [DjangoFilterBackend]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("view", "names"),
    [
        (OfProperty, {"name", "permissions"}),
        (OfFields, {"name", "permissions"}),
        (OfBackends, {"name", "search"}),
    ],
)
def test_filters_that_the_query_chooses(view, names):
    schema = described(view, "GET")
    assert names <= set(by_name(schema.query))
    assert all(not parameter.required for parameter in schema.query)


@pytest.mark.django_db
def test_filters_that_nothing_chooses_keep_their_values():
    class Named(Groups):
        filterset_class = ByName

    assert by_name(described(Named, "GET").query)["name"].closed is not None
