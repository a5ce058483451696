"""A deletion whose query no source shows refuses an argument that nothing is known of."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.urls import path
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView


def narrow(rows, terms):
    return rows.filter(**{name: text for name, text in terms.items() if name == "name"})


class Purge(APIView):
    permission_classes = [AllowAny]

    def delete(self, request):
        deleted, _ = narrow(Group.objects.all(), request.GET.dict()).delete()
        return Response({"deleted": deleted})


def test_a_deletion_refuses_an_argument_that_nothing_is_known_of(expose, agent_of):
    expose(path("groups/", Purge.as_view()))
    for name in "abc":
        Group.objects.create(name=name)
    (tool,) = agent_of(None).tools()
    result = agent_of(None).call(tool, name="a")
    # Taken without the query, the call would delete every row.
    assert result.is_error or Group.objects.count() == 2
    assert Group.objects.count() >= 2
