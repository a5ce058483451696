"""The example project, and beside it the least that a view can do."""

from __future__ import annotations

from django.urls import include, path
from rest_framework.decorators import api_view
from rest_framework.response import Response


@api_view(["GET"])
def nothing(request):
    """Answer with an empty object."""
    return Response({})


LONG_ANSWERS = {
    "nulls": [None] * 100_000,
    "floats": [number / 7 for number in range(270_000)],
    "rows": [
        {
            "id": number,
            "name": f"Customer {number}",
            "city": "Uppsala",
            "note": "Paid. " * 25,
        }
        for number in range(22_000)
    ],
    "text": {"id": 1, "text": "The harbour was opened in the spring of 1892. " * 65_000},
}


@api_view(["GET"])
def long_answer(request, kind):
    """Answer with megabytes."""
    return Response(LONG_ANSWERS[kind])


urlpatterns = [
    path("nothing/", nothing),
    path("long/<str:kind>/", long_answer),
    path("", include("example_project.urls")),
]
