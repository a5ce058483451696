"""The request of a described view has everything that REST framework sets before the handler."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, versioning
from rest_framework.response import Response
from rest_framework.views import APIView

QUESTIONS = {
    "renderer": lambda request: request.accepted_renderer.format == "json",
    "media type": lambda request: request.accepted_media_type == "application/json",
    "version": lambda request: request.version == "2",
    "scheme": lambda request: request.versioning_scheme.default_version == "2",
    "host": lambda request: request.get_host() == "shop.example",
    "address": lambda request: request.build_absolute_uri() == "http://shop.example/groups/",
    "query": lambda request: not request.query_params,
    "body": lambda request: not request.data,
    "user": lambda request: request.user.is_authenticated in (True, False),
    "credential": lambda request: request.auth is None,
}


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Accepting(versioning.AcceptHeaderVersioning):
    default_version = "2"
    allowed_versions = ["1", "2"]


def test_a_view_can_read_its_request(tool_of, settings):
    settings.ALLOWED_HOSTS = ["*", ".shop.example"]
    seen = []

    class Groups(generics.CreateAPIView):
        serializer_class = GroupSerializer
        versioning_class = Accepting

        def get_serializer_class(self):
            seen.append({what: ask(self.request) for what, ask in QUESTIONS.items()})
            return super().get_serializer_class()

    tool = tool_of(path("groups/", Groups.as_view()))
    assert "name" in tool.input_schema["properties"]
    assert tool.findings == ()
    assert seen == [dict.fromkeys(QUESTIONS, True)] * len(seen) != []


class Searching(APIView):
    @extend_schema(parameters=[OpenApiParameter("term", str, required=True)])
    def get(self, request):
        return Response()


SCHEMES = {
    "in the header": (versioning.AcceptHeaderVersioning, {}),
    "in the header, with a default": (Accepting, {}),
    "in the query, without a default": (
        versioning.QueryParameterVersioning,
        {"allowed_versions": ["1"]},
    ),
    "in the path, without a default": (versioning.URLPathVersioning, {"allowed_versions": ["1"]}),
}


def test_declared_parameters_are_used_with_every_versioning_scheme(tool_of):
    for scheme, members in SCHEMES.values():
        own = type("Scheme", (scheme,), members)
        tool = tool_of(path("search/", Searching.as_view(versioning_class=own)))
        assert "term" in tool.input_schema["required"], scheme
        assert tool.findings == (), scheme
