"""The app that short examples speak of."""

from __future__ import annotations

from example_project.shop.views import CustomerViewSet as CustomerViewSet
