"""One paginator of each kind that REST framework has."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination


class NumberedPages(PageNumberPagination):
    """``page`` and ``page_size``."""

    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100


class ProductWindow(LimitOffsetPagination):
    """``limit`` and ``offset``."""

    default_limit = 10
    max_limit = 50


class OrderCursor(CursorPagination):
    """Newest first, by an opaque ``cursor`` that new orders do not shift."""

    ordering = "-placed_at"
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100
