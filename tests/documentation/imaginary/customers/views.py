"""The app that short examples import from."""

from __future__ import annotations

from example_project.shop.views import CustomerViewSet as CustomerViewSet
