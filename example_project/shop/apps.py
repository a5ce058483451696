from __future__ import annotations

from django.apps import AppConfig


class ShopConfig(AppConfig):
    """The shop."""

    name = "example_project.shop"
    label = "shop"
