"""meta.pagination: where a page is, and the arguments for the next page."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import generics, pagination, serializers
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.response import Response

from example_project.shop.models import Product
from tests.dispatch.conftest import Doors

COUNT = 23


class Numbers(pagination.PageNumberPagination):
    page_size = 5
    page_size_query_param = "page_size"


class Windows(pagination.LimitOffsetPagination):
    default_limit = 5


class Cursors(pagination.CursorPagination):
    page_size = 5
    page_size_query_param = "page_size"
    ordering = "slug"


class Renamed(pagination.PageNumberPagination):
    page_size = 5
    page_size_query_param = "per"
    page_query_param = "p"


class LinksOnly(pagination.PageNumberPagination):
    page_size = 5

    def get_paginated_response(self, data: Any) -> Response:
        links = {"next": self.get_next_link(), "previous": self.get_previous_link()}
        return Response({"links": links, "total": self.page.paginator.count, "items": data})


class ProductSerializer(serializers.ModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "slug", "category"]


class Products(generics.ListAPIView):
    permission_classes = []
    queryset = Product.objects.order_by("slug")
    serializer_class = ProductSerializer
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_fields = ["category"]
    search_fields = ["slug"]
    ordering_fields = ["slug", "id"]


SIZES = {Numbers: "page_size", Windows: "limit", Cursors: "page_size", Renamed: "per"}
STYLES = list(SIZES)


@pytest.fixture
def pages(serve):
    rows = Product.objects.filter(pk__in=list(get_product_ids())).order_by("slug")

    def mount(paginator: type | None, **mcp_settings: Any) -> Doors:
        view = Products.as_view(pagination_class=paginator, queryset=rows)
        return serve(path("thing/", view), **mcp_settings)

    return mount


def get_product_ids() -> Any:
    return Product.objects.order_by("pk").values_list("pk", flat=True)[:COUNT]


def read_pages(thing: Doors, arguments: dict[str, Any]) -> list[list[int]]:
    found, following = [], arguments
    while following is not None:
        result = thing.call(**following)
        assert not result.is_error, result.raw
        page = result.envelope["meta"]["pagination"]
        assert page["has_more"] is ("next" in page)
        assert "http" not in str(result.envelope["meta"])
        found.append([row["id"] for row in result.data["results"]])
        following = page.get("next")
        assert len(found) <= COUNT + 1
    return found


def walk_http(thing: Doors, parameters: dict[str, Any]) -> list[list[int]]:
    answer = thing.get(**parameters).json()
    found = [[row["id"] for row in answer["results"]]]
    while answer["next"]:
        answer = thing.http.get(answer["next"]).json()
        found.append([row["id"] for row in answer["results"]])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("paginator", STYLES)
@given(size=st.integers(1, COUNT + 3))
def test_next_leads_through_the_same_pages_as_the_links(pages, paginator, size):
    thing = pages(paginator)
    arguments = {SIZES[paginator]: size}
    walked = read_pages(thing, arguments)
    assert walked == walk_http(thing, arguments)
    rows = [pk for page in walked for pk in page]
    assert sorted(rows) == list(get_product_ids())
    assert len(rows) == COUNT


@pytest.mark.parametrize("paginator", STYLES)
def test_next_leads_through_all_rows_from_a_call_without_arguments(pages, paginator):
    thing = pages(paginator)
    assert read_pages(thing, {}) == walk_http(thing, {})
    assert list(map(len, read_pages(thing, {}))) == [5, 5, 5, 5, 3]


@pytest.mark.parametrize("paginator", STYLES)
def test_next_keeps_filters_search_and_ordering(pages, paginator):
    thing = pages(paginator)
    category = Product.objects.values_list("category", flat=True).first()
    arguments = {"category": category, "search": "a", "ordering": "-id", SIZES[paginator]: 1}
    page = thing.call(**arguments).envelope["meta"]["pagination"]
    assert arguments.items() <= page["next"].items()
    wanted = Product.objects.filter(
        pk__in=list(get_product_ids()), category=category, slug__contains="a"
    ).order_by("-id")
    assert [pk for ids in read_pages(thing, arguments) for pk in ids] == [p.pk for p in wanted]
    assert len(wanted) > 1


MEMBERS = {
    Numbers: [
        {"has_more": True, "total_count": COUNT, "page_size": 5, "page": 1},
        {"has_more": False, "total_count": COUNT, "page_size": 5, "page": 5},
    ],
    Windows: [
        {"has_more": True, "total_count": COUNT, "page_size": 5, "cursor": "5"},
        {"has_more": False, "total_count": COUNT},
    ],
    Renamed: [
        {"has_more": True, "total_count": COUNT, "page_size": 5, "page": 1},
        {"has_more": False, "total_count": COUNT, "page_size": 5, "page": 5},
    ],
}
NEXT = {Numbers: {"page": 2}, Windows: {"limit": 5, "offset": 5}, Renamed: {"p": 2}}
LAST = {Numbers: {"page": 5}, Windows: {"offset": 20}, Renamed: {"p": 5}}


@pytest.mark.parametrize("paginator", MEMBERS)
def test_a_page_has_its_number_its_size_and_the_count(pages, paginator):
    thing = pages(paginator)
    first = thing.call().envelope["meta"]["pagination"]
    last = thing.call(**LAST[paginator]).envelope["meta"]["pagination"]
    assert first == {**MEMBERS[paginator][0], "next": NEXT[paginator]}
    assert last == MEMBERS[paginator][1]


def test_a_cursor_page_has_the_cursor_of_the_next_page(pages):
    page = pages(Cursors).call().envelope["meta"]["pagination"]
    assert set(page) == {"has_more", "page_size", "cursor", "next"}
    assert page["next"] == {"cursor": page["cursor"]}
    assert page["page_size"] == 5


@pytest.mark.parametrize("paginator", [Numbers, Windows, Cursors])
def test_page_size_is_the_size_that_the_caller_asked_for(pages, paginator):
    page = pages(paginator).call(**{SIZES[paginator]: 7}).envelope["meta"]["pagination"]
    assert page["page_size"] == 7


@pytest.mark.parametrize("paginator", [LinksOnly, None])
def test_an_unknown_page_format_and_an_unpaginated_list_are_unchanged(pages, paginator):
    thing = pages(paginator)
    result, body = thing.call(), thing.get().json()
    assert result.data == (body if paginator else {"results": body})
    assert "pagination" not in result.envelope["meta"]


class Steps(generics.GenericAPIView):
    """Returns a body that only looks like a page."""

    permission_classes = []
    pagination_class = Numbers
    body: dict[str, Any] = {}

    def get(self, request) -> Response:
        return Response({"results": ["peel"], **self.body})


def test_a_body_is_no_page_without_a_link_or_without_a_paginator(subtests, serve):
    for following, paginator in [
        *((n, Numbers) for n in ("boil", "", 2, True, {"page": 2}, ["x"])),
        (None, None),
    ]:
        with subtests.test(following=following, paginator=paginator):
            body = {"next": following, "count": "3"}
            thing = serve(Steps.as_view(body=body, pagination_class=paginator))
            result = thing.call()
            assert result.data == thing.get().json()
            assert "pagination" not in result.envelope["meta"]


@pytest.mark.parametrize("paginator", STYLES)
def test_a_page_size_over_the_maximum_is_a_warning(pages, paginator):
    limit = "max_limit" if paginator is Windows else "max_page_size"
    thing = pages(type("Limited", (paginator,), {limit: 7}))
    name = SIZES[paginator]
    cut = thing.call(**{name: 20}).envelope["meta"]
    assert cut["warnings"] == [f"{name} is at most 7, not 20: read on with 'next'."]
    assert "warnings" not in thing.call(**{SIZES[paginator]: 7}).envelope["meta"]
