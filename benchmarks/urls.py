"""The example project, and beside it the least that a view can do."""

from __future__ import annotations

from django.urls import include, path
from rest_framework.decorators import api_view
from rest_framework.response import Response


@api_view(["GET"])
def nothing(request):
    """Answer with an empty object."""
    return Response({})


urlpatterns = [path("nothing/", nothing), path("", include("example_project.urls"))]
