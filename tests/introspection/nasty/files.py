"""Endpoints that take files."""

from __future__ import annotations

import base64
import io

from django.core.validators import FileExtensionValidator
from PIL import Image
from rest_framework import serializers as s
from rest_framework.parsers import FileUploadParser, JSONParser, MultiPartParser
from rest_framework.response import Response

from tests.introspection.nasty.views import Echo, Plain


def png() -> bytes:
    """Return a PNG image of one pixel."""
    buffer = io.BytesIO()
    Image.new("RGB", (1, 1)).save(buffer, "PNG")
    return buffer.getvalue()


def encoded(content: bytes) -> str:
    """Return content as base64."""
    return base64.b64encode(content).decode()


class FileFacts(s.FileField):
    """Writes the name, size and beginning of the file instead of a URL."""

    def to_representation(self, value):
        value.seek(0)
        return {"name": value.name, "size": value.size, "start": value.read(9).decode("latin-1")}


class TextField(s.FileField):
    """Reads base64 itself."""

    def to_internal_value(self, data):
        return base64.b64decode(data)

    def to_representation(self, value):
        return value.decode()


class Document(s.Serializer):
    title = s.CharField()
    file = FileFacts()
    tags = s.ListField(child=s.CharField(), required=False)
    meta = s.JSONField(required=False)
    count = s.IntegerField(required=False, allow_null=True)
    public = s.BooleanField(default=True)


class Picture(s.Serializer):
    image = s.ImageField(use_url=False)


class Papers(s.Serializer):
    file = FileFacts(validators=[FileExtensionValidator(["pdf", "txt"])], required=False)
    text = s.CharField(required=False)


class Part(s.Serializer):
    label = s.CharField()
    file = FileFacts(required=False)
    notes = s.ListField(child=s.CharField(), required=False)


class Bundle(s.Serializer):
    cover = FileFacts(allow_null=True, required=False)
    pages = s.ListField(child=FileFacts(), required=False)
    parts = Part(many=True, required=False)
    main = Part(required=False)


class OwnText(s.Serializer):
    file = TextField()


class Raw(Plain):
    """Reads request.FILES."""

    parser_classes = [MultiPartParser]

    def post(self, request):
        return Response({"names": sorted(request.data)})


class ByKey(Plain):
    """Reads its files and texts by name."""

    parser_classes = [JSONParser, MultiPartParser]

    def post(self, request):
        scan = request.FILES.get("scan")
        size = scan.size if scan else None
        return Response({"size": size, "title": request.data.get("title", "none")})


class Whole(Plain):
    """Reads a body that is one file."""

    parser_classes = [FileUploadParser]

    def put(self, request, filename):
        return Response({"size": request.data["file"].size})


class NoMultiPart(Echo):
    """Has a file field and no parser for files."""

    serializer_class = Papers
    http_method_names = ["post"]
    parser_classes = [JSONParser]
