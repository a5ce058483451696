"""A handler that reads ``request.POST`` gets a form, and one that reads files gets files."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import path
from rest_framework import generics, parsers, serializers, views
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

FILE = "data:text/plain;name=a.txt;base64,eA=="


class Open(views.APIView):
    permission_classes = [AllowAny]


class ByKey(Open):
    def post(self, request):
        return Response({"x": request.POST.get("x"), "tags": request.POST.getlist("tags")})


class ByIndex(Open):
    def post(self, request):
        return Response({"x": request.POST["x"], "tags": request.POST.getlist("tags")})


class ByHelper(Open):
    def post(self, request):
        return Response(read_form(request))


class OfRequestBehind(Open):
    def post(self, request):
        return Response(read_form(request._request))


class OnlyForms(ByKey):
    parser_classes = [parsers.FormParser]


class OnlyFiles(ByKey):
    parser_classes = [parsers.MultiPartParser, parsers.JSONParser]


@api_view(["POST"])
@permission_classes([AllowAny])
def by_function(request):
    return Response(read_form(request))


def read_form(request):
    return {"x": request.POST.get("x"), "tags": request.POST.getlist("tags")}


def call_with(client, tool, values):
    ((name, definition),) = client.tools().items()
    properties = definition["inputSchema"]["properties"]
    arguments = values if values.keys() <= properties.keys() else {"body": values}
    return client.call(name, **arguments)


@pytest.mark.parametrize(
    "view",
    [
        *(v.as_view() for v in (ByKey, ByIndex, ByHelper, OfRequestBehind, OnlyForms, OnlyFiles)),
        by_function,
    ],
)
def test_a_handler_that_reads_post_gets_a_form(expose, agent_of, view):
    expose(path("x/", view))
    result = call_with(agent_of(None), None, {"x": "1", "tags": ["a", "b"]})
    assert result.envelope["data"] == {"x": "1", "tags": ["a", "b"]}


class Named(Open):
    def post(self, request):
        return Response({"saved": request.FILES["avatar"].name})


class NamedByHelper(Open):
    def post(self, request):
        return Response({"saved": save_avatar(request)})


class Perhaps(Open):
    def post(self, request):
        avatar = request.FILES.get("avatar")
        return Response({"saved": avatar and avatar.name})


class Several(Open):
    def post(self, request):
        return Response({"saved": [each.name for each in request.FILES.getlist("avatar")]})


class Looped(Open):
    def post(self, request):
        names = [file.name for _, file in request.FILES.items()]
        return Response({"saved": names[0] if names else None})


class Profile(serializers.Serializer):
    name = serializers.CharField(required=False)


class Profiled(generics.CreateAPIView):
    permission_classes = [AllowAny]
    serializer_class = Profile

    def create(self, request, *args, **kwargs):
        self.get_serializer(data=request.data).is_valid(raise_exception=True)
        return Response({"saved": request.FILES["avatar"].name})


class ProfiledByHook(generics.CreateAPIView):
    permission_classes = [AllowAny]
    serializer_class = Profile

    def perform_create(self, serializer):
        serializer.instance = {"name": self.request.FILES["avatar"].name}


class SavedProfile(Profile):
    def create(self, validated_data):
        return {"name": self.context["request"].FILES["avatar"].name}


class ProfiledBySerializer(generics.CreateAPIView):
    permission_classes = [AllowAny]
    serializer_class = SavedProfile


def save_avatar(request):
    return request.FILES["avatar"].name


@pytest.mark.parametrize(
    "view",
    [
        Named,
        NamedByHelper,
        Perhaps,
        Several,
        Looped,
        Profiled,
        ProfiledByHook,
        ProfiledBySerializer,
    ],
)
def test_a_handler_that_reads_files_gets_a_file(expose, agent_of, http_of, view):
    expose(path("x/", view.as_view()))
    file = SimpleUploadedFile("a.txt", b"x", "text/plain")
    over_http = http_of(None).post("/x/", {"avatar": file}, format="multipart")
    assert over_http.status_code < 300, over_http.content
    several = view is Several
    result = call_with(agent_of(None), None, {"avatar": [FILE] if several else FILE})
    assert result.envelope["data"] == over_http.json(), result.envelope
