from __future__ import annotations

from django.apps import AppConfig


class LibraryConfig(AppConfig):
    """The library."""

    name = "example_project.library"
    label = "library"
