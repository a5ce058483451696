"""A view for tests that need any tool."""

from __future__ import annotations

from rest_framework.response import Response
from rest_framework.views import APIView


class Word(APIView):
    """Repeat a word."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response({"word": "hello"})
