"""A library whose documents are too long for one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import path
from rest_framework.filters import SearchFilter
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import BasePermission
from rest_framework.response import Response
from rest_framework.views import APIView

from tests.stored.conftest import archive_class  # noqa: F401

BODY = "\n".join(
    f"Chapter {n}. The harbour of {n} ships, “quoted” — naïve\tcafé. A storm broke the mole."
    for n in range(60)
)
# Tokens of a result; the views answer with several times as many.
LIMIT = 2000
ROWS = 300
OPEN = "rest_framework.permissions.AllowAny"


def document(number: int) -> dict:
    """Return one document, whose text is long and not in canonical form."""
    return {"id": number, "title": f"Document {number}", "body": f"{BODY}\r\n Nr.  {number}"}


class MayRead(BasePermission):
    """Allows every caller whose username is not in ``refused``."""

    refused: set = set()

    def has_permission(self, request, view) -> bool:
        return request.user.get_username() not in self.refused


class FindsAll(SearchFilter):
    """Has a search term and filters nothing."""

    def filter_queryset(self, request, queryset, view):
        return queryset


class Documents(GenericAPIView):
    """List long documents."""

    permission_classes = [MayRead]
    filter_backends = [FindsAll]
    search_fields = ["body"]

    def get(self, request) -> Response:
        return Response(self.filter_queryset([document(number) for number in range(1, 13)]))


class Rows(APIView):
    """List many short rows."""

    permission_classes = [MayRead]

    def get(self, request) -> Response:
        return Response([{"id": n, "note": f"note {n} " + "x" * 90} for n in range(1, ROWS + 1)])


class Book(APIView):
    """Return one long text."""

    permission_classes = [MayRead]

    def get(self, request) -> Response:
        return Response({"id": 1, "text": "".join(f"{n}\u00e9 \U0001f600\n" for n in range(4_000))})


class Table(APIView):
    """Return two rows, each of them too long for a result."""

    permission_classes = [MayRead]

    def get(self, request) -> Response:
        return Response([{"id": n, **{f"k{k}": "v" * 30 for k in range(300)}} for n in (1, 2)])


class Said(APIView):
    """Return the answer that a test sets."""

    answer: Any = None

    def get(self, request) -> Response:
        return Response(self.answer)


@pytest.fixture
def library(expose, monkeypatch) -> Callable[..., None]:
    """Serve the library with these settings."""
    monkeypatch.setattr(MayRead, "refused", set())

    def serve(**mcp_settings) -> None:
        expose(
            path("documents/", Documents.as_view()),
            path("rows/", Rows.as_view()),
            path("book/", Book.as_view()),
            path("table/", Table.as_view()),
            path("said/", Said.as_view()),
            **{
                "ARCHIVE_CLASS": "drf_mcp.archives.CacheArchive",
                "MAX_RESULT_TOKENS": LIMIT,
                **mcp_settings,
            },
        )

    return serve
