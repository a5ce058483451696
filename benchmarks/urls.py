"""The example project, and views of megabytes."""

from __future__ import annotations

from django.urls import include, path
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.generics import GenericAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response


def make_rows(size):
    """Return rows whose JSON has this many bytes in all."""
    return [
        {"id": n, "name": f"Customer {n}", "paid": True, "note": f"Paid {n} in Malmö. " * 10}
        for n in range(size // 250)
    ]


class RowSerializer(serializers.Serializer):
    """A row."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    paid = serializers.BooleanField()
    note = serializers.CharField()


def make_page(size):
    """Return a page of rows that a serializer wrote, as in most views."""
    results = RowSerializer(make_rows(size), many=True).data
    return {"count": len(results), "next": None, "previous": None, "results": results}


MEGABYTES = {
    "rows": make_rows,
    "page": make_page,
    "text": lambda size: {"id": 1, "text": "The harbour was opened in 1892. " * (size // 32)},
    "numbers": lambda size: list(range(size // 8)),
}


@api_view(["GET"])
def megabytes(request, kind, size):
    """Answer with this many bytes, generated for each request."""
    return Response(MEGABYTES[kind](size))


class UploadSerializer(serializers.Serializer):
    """A file."""

    file = serializers.FileField()


class Upload(GenericAPIView):
    """Take a file, and answer with its size."""

    serializer_class = UploadSerializer
    parser_classes = [MultiPartParser]

    def post(self, request):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response({"size": serializer.validated_data["file"].size})


urlpatterns = [
    path("megabytes/<str:kind>/<int:size>/", megabytes),
    path("uploads/", Upload.as_view()),
    path("", include("example_project.urls")),
]
