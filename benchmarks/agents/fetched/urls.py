"""A fetched project's own URLs, preceded by the MCP endpoint."""

from importlib import import_module

from django.conf import settings
from django.urls import include, path

urlpatterns = [
    path("", include("drf_mcp.urls")),
    *import_module(settings.FETCHED_URLCONF).urlpatterns,
]
