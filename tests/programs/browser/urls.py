"""The shop's URLs with further tools, and static files, which ASGI servers do not serve."""

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


@mcp_tool(name="gallery", title="A gallery")
class GalleryView(APIView):
    """Answer with URLs of images, and a long text."""

    def get(self, request) -> Response:
        rows = [
            {"id": 1, "photo": request.build_absolute_uri("/media/pixel.png"), "text": "Short."},
            {"id": 2, "photo": "https://elsewhere.example/pixel.png", "text": "Long. " * 50},
            {"id": 3, "photo": "/api/gallery/pixel.png", "text": None},
        ]
        return Response(rows)


class FileSerializer(serializers.Serializer):
    """A file."""

    file = serializers.FileField(help_text="Any file.")


@mcp_tool(name="weigh", title="Weigh a file", destructive=False)
class WeighView(APIView):
    """Return the name and the size of a file."""

    serializer_class = FileSerializer
    parser_classes = [MultiPartParser]

    def post(self, request) -> Response:
        serializer = FileSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        return Response({"name": file.name, "size": file.size})


class EventSerializer(serializers.Serializer):
    """An event."""

    day = serializers.DateField(help_text="A day.")
    starts = serializers.DateTimeField(help_text="When it starts.")
    opens = serializers.TimeField(help_text="When the door opens.")
    price = serializers.DecimalField(6, 2, help_text="In euros.")
    seats = serializers.IntegerField(help_text="How many.", min_value=1)
    ends = serializers.DateField(help_text="The last day.", allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(), help_text="Words.")


@mcp_tool(name="event", title="An event", destructive=False)
class EventView(APIView):
    """Repeat an event."""

    serializer_class = EventSerializer

    def post(self, request) -> Response:
        serializer = EventSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


@mcp_tool(name="count_up", title="Count up")
class CountUpView(APIView):
    """Count to three, with progress."""

    def get(self, request) -> Response:
        for number in (1, 2, 3):
            call_context(request).progress(number, 3, f"Counted {number}")
        return Response({"counted": 3})


urlpatterns = [
    *shop,
    path("api/count-up/", CountUpView.as_view()),
    path("api/event/", EventView.as_view()),
    path("api/gallery/", GalleryView.as_view()),
    path("media/pixel.png", lambda request: HttpResponse(PIXEL, content_type="image/png")),
    path("api/picture/", PictureView.as_view()),
    path("api/weigh/", WeighView.as_view()),
    *staticfiles_urlpatterns(),
]
