"""The shop's URLs, two tools more, and the static files, which ASGI servers do not find."""

from __future__ import annotations

import base64

from django.contrib.staticfiles.urls import staticfiles_urlpatterns
from django.http import HttpResponse
from django.urls import path
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from example_project.urls import urlpatterns as shop

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@mcp_tool(name="picture", title="A picture")
class PictureView(APIView):
    """Answer with one pixel."""

    def get(self, request) -> HttpResponse:
        return HttpResponse(PIXEL, content_type="image/png")


class FileSerializer(serializers.Serializer):
    """A file."""

    file = serializers.FileField(help_text="Any file.")


@mcp_tool(name="weigh", title="Weigh a file", destructive=False)
class WeighView(APIView):
    """Tell the name and the size of a file."""

    serializer_class = FileSerializer
    parser_classes = [MultiPartParser]

    def post(self, request) -> Response:
        serializer = FileSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        return Response({"name": file.name, "size": file.size})


@mcp_tool(name="count_up", title="Count up")
class CountUpView(APIView):
    """Count to three, and say so."""

    def get(self, request) -> Response:
        for number in (1, 2, 3):
            call_context(request).progress(number, 3, f"Counted {number}")
        return Response({"counted": 3})


urlpatterns = [
    *shop,
    path("api/count-up/", CountUpView.as_view()),
    path("api/picture/", PictureView.as_view()),
    path("api/weigh/", WeighView.as_view()),
    *staticfiles_urlpatterns(),
]
