"""Query parameters that the source of a view shows."""

from __future__ import annotations

import pytest
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from drf_mcp.schemas.source.queries import query_keys


def by_color(request, rows):
    """Filter rows, as a function that several views share does."""
    return rows.filter(color=request.GET["color"])


class Things(ModelViewSet):
    """Reads its query in hooks of REST framework."""

    def get_queryset(self):
        params = self.request.query_params
        rows = by_color(self.request, super().get_queryset())
        return rows.filter(year=params.get("year")) if "year" in params else rows

    def get_serializer_class(self):
        return self.request.query_params.get("format") and super().get_serializer_class()

    def perform_destroy(self, instance):
        instance.delete(replaced_by=self.request.query_params.get("replaced_by"))


@pytest.mark.parametrize(
    ("action", "method", "keys"),
    [
        ("list", "GET", {"color", "year"}),
        ("retrieve", "GET", {"color", "year"}),
        ("destroy", "DELETE", {"color", "year", "replaced_by"}),
        ("create", "POST", set()),
    ],
)
def test_keys_are_read_off_the_methods_that_the_action_calls(action, method, keys):
    assert set(query_keys(Things, action, method)) == keys


@api_view(["GET", "POST"])
def both(request):
    """Read the query for one method."""
    if request.method == "POST":
        return Response(request.query_params["notify"])
    return Response()


@pytest.mark.parametrize(("method", "keys"), [("GET", []), ("POST", ["notify"])])
def test_keys_of_other_methods_are_left_out(method, keys):
    assert query_keys(both.cls, method.lower(), method) == keys


def test_a_handler_that_is_not_there_reads_nothing():
    assert query_keys(Things, "missing", "GET") == []
