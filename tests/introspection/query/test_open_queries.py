"""Code that reads the query in a way that cannot be read opens it: unknown arguments pass."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import path
from rest_framework import filters, generics, serializers
from rest_framework.permissions import AllowAny, BasePermission

from drf_mcp.exposure import registry


class Row(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Rows(generics.ListAPIView):
    queryset = Group.objects.order_by("id")
    serializer_class = Row
    permission_classes = [AllowAny]
    authentication_classes = []
    filter_backends = []


def narrow(rows, terms):
    return rows.filter(**{name: text for name, text in terms.items() if name == "name"})


class GivenToHelper(Rows):
    def get_queryset(self):
        return narrow(super().get_queryset(), self.request.GET)


class ReadWhole(Rows):
    def get_queryset(self):
        return super().get_queryset().filter(**self.request.GET.dict())


class Looped(Rows):
    def get_queryset(self):
        rows = super().get_queryset()
        for name, text in self.request.query_params.items():
            rows = rows.filter(**{name: text})
        return rows


class Copied(Rows):
    def get_queryset(self):
        return narrow(super().get_queryset(), QueryDict.copy(self.request.GET))


class AsText(Rows):
    def get_queryset(self):
        return narrow(super().get_queryset(), dict(parse_qsl(self.request.META["QUERY_STRING"])))


class HandedOn(Rows):
    def list(self, request, *args, **kwargs):
        return ReadWhole.as_view()(request._request)


class Named(BasePermission):
    def has_permission(self, request, view):
        return narrow(Group.objects.all(), request.GET).exists()


class AskedByPermission(Rows):
    permission_classes = [AllowAny & Named]


class OfRequest(QuerySet):
    def of(self, request):
        return narrow(self.order_by("id"), request.GET)


class ReadByQuerySet(Rows):
    def get_queryset(self):
        return OfRequest(Group).of(self.request)


class Backend(filters.BaseFilterBackend):
    def filter_queryset(self, request, queryset, view):
        return narrow(queryset, request.query_params)


class ReadByBackend(Rows):
    filter_backends = [Backend]


class Names(serializers.Serializer):
    def to_representation(self, instance):
        rows = narrow(Group.objects.all(), self.context["request"].query_params)
        return {each.name: True for each in rows}


class Extended(Row):
    others = serializers.SerializerMethodField()

    class Meta(Row.Meta):
        fields = ["id", "name", "others"]

    def get_others(self, instance):
        return Names(instance, context=self.context).data


class ReadByMethodField(Rows):
    serializer_class = Extended


@pytest.mark.parametrize(
    "view",
    [
        GivenToHelper,
        ReadWhole,
        Looped,
        Copied,
        AsText,
        HandedOn,
        AskedByPermission,
        ReadByQuerySet,
        ReadByBackend,
        ReadByMethodField,
    ],
)
def test_an_unknown_argument_arrives_with_a_warning_and_a_finding(expose, agent_of, http_of, view):
    for name in "ab":
        Group.objects.create(name=name)
    expose(path("groups/", view.as_view()))
    ((name, tool),) = registry.tools().items()
    result = agent_of(None).call(name, name="b")
    data = result.envelope["data"]
    assert data.get("results", data) == http_of(None).get("/groups/", {"name": "b"}).json()
    assert "'name'" in result.envelope["meta"]["warnings"][0]
    assert any("test_open_queries.py:" in finding.message for finding in tool.findings)
