"""A project whose URLconf has a view of an installed package."""

from __future__ import annotations

from django.urls import path
from rest_framework.authtoken.views import ObtainAuthToken

urlpatterns = [
    path("token/", ObtainAuthToken.as_view()),
]
