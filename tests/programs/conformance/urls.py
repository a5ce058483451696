"""The endpoint, and the routes of every module of fixtures."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from django.urls import include, path

from tests.programs.conformance import fixtures

MODULES = [
    import_module(f"{fixtures.__name__}.{module.name}")
    for module in pkgutil.iter_modules(fixtures.__path__)
]
urlpatterns = [
    path("", include("drf_mcp.urls")),
    *(pattern for module in MODULES for pattern in module.urlpatterns),
]
