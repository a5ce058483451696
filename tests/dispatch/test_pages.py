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


def test_a_cursor_page_says_the_cursor_of_the_next_page_once(pages):
    page = pages(Cursors).call().envelope["meta"]["pagination"]
    assert page == {"has_more": True, "page_size": 5, "next": {"cursor": page["next"]["cursor"]}}


@pytest.mark.parametrize("paginator", [Numbers, Windows, Cursors])
def test_page_size_is_the_size_that_the_caller_asked_for(pages, paginator):
    page = pages(paginator).call(**{SIZES[paginator]: 7}).envelope["meta"]["pagination"]
    assert page["page_size"] == 7


def test_an_unpaginated_list_is_no_page(pages):
    result = pages(None).call()
    assert result.data == {"results": pages(None).get().json()}
    assert "pagination" not in result.envelope["meta"]


def link_header(self: Any, data: Any) -> Response:
    links = {"next": self.get_next_link(), "prev": self.get_previous_link()}
    texts = [f'<{link}>; title="a, b"; rel="{rel}"' for rel, link in links.items() if link]
    headers = {"Link": ", ".join(texts), "X-Total-Count": str(self.page.paginator.count)}
    return Response(data, headers=headers)


def documented(self: Any, data: Any) -> Response:
    links = {"next": self.get_next_link(), "previous": self.get_previous_link()}
    return Response({"links": links, "count": self.page.paginator.count, "results": data})


def hal(self: Any, data: Any) -> Response:
    links = {"self": {"href": self.request.build_absolute_uri()}}
    if link := self.get_next_link():
        links["next"] = {"href": link}
    total = self.page.paginator.count
    return Response({"_links": links, "total": total, "_embedded": {"products": data}})


def json_api(self: Any, data: Any) -> Response:
    pagination = {"page": self.page.number, "count": self.page.paginator.count}
    links = {"first": None, "next": self.get_next_link(), "prev": self.get_previous_link()}
    return Response({"links": links, "data": data, "meta": {"pagination": pagination}})


def numbers(self: Any, data: Any) -> Response:
    following = self.page.next_page_number() if self.page.has_next() else None
    total = self.page.paginator.count
    return Response({"results": data, "next": following, "previous": None, "count": total})


def rows_alone(self: Any, data: Any) -> Response:
    return Response(data)


SHAPES = [link_header, documented, hal, json_api, numbers]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_of_any_shape_has_the_arguments_of_the_next_page(pages, shape):
    thing = pages(type("Shaped", (Numbers,), {"get_paginated_response": shape}))
    category = Product.objects.values_list("category", flat=True).first()
    page = thing.call(category=category, page_size=1).envelope["meta"]["pagination"]
    assert page["next"] == {"category": category, "page_size": 1, "page": 2}
    first, last = (thing.call(page=n).envelope["meta"]["pagination"] for n in (1, 5))
    assert first["next"] == {"page": 2}
    assert (first["has_more"], last["has_more"]) == (True, False)
    assert first["total_count"] == last["total_count"] == COUNT
    assert "next" not in last


@pytest.mark.parametrize("shape", [link_header, documented, hal, json_api])
def test_the_body_of_a_page_of_another_shape_is_unchanged(pages, shape):
    thing = pages(type("Shaped", (Numbers,), {"get_paginated_response": shape}))
    result, body = thing.call().data, thing.get().json()
    assert result == (body if isinstance(body, dict) else {"results": body})


def test_fields_select_of_the_rows_of_a_page_with_links_in_an_object(pages):
    thing = pages(type("Shaped", (Numbers,), {"get_paginated_response": documented}))
    whole, cut = thing.call().data, thing.call(fields=["slug"])
    assert cut.data == {**whole, "results": [{"slug": row["slug"]} for row in whole["results"]]}
    assert "warnings" not in cut.envelope["meta"]


@pytest.mark.parametrize("family", [Numbers, Windows, Cursors])
def test_a_page_that_shows_no_link_says_what_follows_and_no_count(pages, family):
    thing = pages(type("Silent", (family,), {"get_paginated_response": rows_alone}))
    page = thing.call().envelope["meta"]["pagination"]
    assert page["has_more"]
    assert "total_count" not in page
    assert thing.call(**page["next"]).data != thing.call().data


def shorten(self: Any) -> Any:
    return pagination.PageNumberPagination.get_next_link(self).partition("/thing/")[2]


def give_number(self: Any) -> Any:
    return self.page.next_page_number() if self.page.has_next() else None


def give_href(self: Any) -> Any:
    return {"href": pagination.PageNumberPagination.get_next_link(self)}


@pytest.mark.parametrize("link", [shorten, give_number, give_href])
def test_a_link_may_be_short_or_a_number_or_an_object(pages, link):
    thing = pages(type("Linked", (Renamed,), {"get_next_link": link}))
    assert thing.call(per=2).envelope["meta"]["pagination"]["next"] == {"per": 2, "p": 2}


class Whole(generics.GenericAPIView):
    """Makes its pages without `pagination_class`."""

    permission_classes = []

    def get(self, request) -> Response:
        request.query_params.get("page")
        paginator = Numbers()
        rows = paginator.paginate_queryset(Product.objects.order_by("slug"), request, view=self)
        answer = paginator.get_paginated_response([row.slug for row in rows])
        return self.change(answer)

    def change(self, answer: Response) -> Response:
        return answer


class Linked(Whole):
    def change(self, answer: Response) -> Response:
        links = [{"rel": "next", "href": answer.data["next"]}]
        return Response({"items": answer.data["results"], "links": links})


@pytest.mark.parametrize("view", [Whole, Linked])
def test_a_page_of_a_paginator_that_the_view_makes_itself(serve, view):
    page = serve(view.as_view()).call().envelope["meta"]["pagination"]
    assert page["next"] == {"page": "2"}


class Unread(generics.GenericAPIView):
    """Hands its request on to a paginator."""

    permission_classes = []

    def get(self, request) -> Response:
        pages = Numbers()
        rows = pages.paginate_queryset(list(range(12)), request, view=self)
        return pages.get_paginated_response(rows)


def test_the_next_page_of_a_view_that_hands_its_request_on_is_followed_or_missed_aloud(serve):
    thing = serve(Unread.as_view())
    result = thing.call()
    assert result.data == thing.get().json()
    page = result.envelope["meta"]["pagination"]
    if "next" in page:
        assert thing.call(**page["next"]).data["results"] == [5, 6, 7, 8, 9]
    else:
        assert any("More rows follow" in each for each in result.envelope["meta"]["warnings"])


NUMBERED = {
    "page and pages": lambda page: {"page": page, "pages": 3},
    "meta": lambda page: {"meta": {"current_page": page, "total_pages": 3}},
    "next page": lambda page: {"next_page": page + 1 if page < 3 else None},
    "has next": lambda page: {"has_next": page < 3, "page": page, "num_pages": 3},
}


@pytest.mark.parametrize("say", NUMBERED.values(), ids=NUMBERED)
def test_a_page_with_numbers_alone_has_the_arguments_of_the_next_page(serve, say):
    class Counted(generics.GenericAPIView):
        permission_classes = []

        def get(self, request) -> Response:
            page = int(request.query_params.get("page", 1))
            return Response({"items": [page], **say(page)})

    thing = serve(Counted.as_view())
    first, last = (thing.call(page=n).envelope["meta"]["pagination"] for n in (1, 3))
    assert first["next"] == {"page": 2}
    assert last == {"has_more": False}


class Told(Whole):
    def change(self, answer: Response) -> Response:
        return Response({"items": answer.data["results"], "has_more": True})


class Placed(generics.GenericAPIView):
    """Has pages whose link no argument of the tool follows."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response([1], headers={"Link": f'<{request.path}?_after=3>; rel="next"'})


@pytest.mark.parametrize("view", [Told, Placed])
def test_rows_that_no_argument_leads_to_are_a_warning(serve, view):
    meta = serve(view.as_view()).call().envelope["meta"]
    assert meta["pagination"]["has_more"]
    assert "next" not in meta["pagination"]
    assert meta["warnings"] == [
        "More rows follow, and no argument leads to them. Filter for what you need."
    ]


class ByPath(pagination.BasePagination):
    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> Any:
        return list(queryset[:3])

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": "http://testserver/thing/2/", "results": data})


def test_a_link_to_another_path_is_a_warning_and_stays_in_the_data(pages):
    thing = pages(ByPath)
    result = thing.call()
    assert result.data == thing.get().json()
    assert result.envelope["meta"]["pagination"] == {"has_more": True}
    assert result.envelope["meta"]["warnings"][0].startswith("More rows follow")


class Neighbours(generics.GenericAPIView):
    """Shows an object that links to the next one."""

    permission_classes = []

    def get(self, request) -> Response:
        links = {"next": {"href": "/thing/2/?full=1"}}
        headers = {"Link": '</other/?page=2>; rel="next"'}
        facts = {"has_more": True, "page": 1, "pages": 3, "next_page": 2}
        return Response({"id": 1, "_links": links, **facts}, headers=headers)


def test_a_link_to_another_object_is_no_next_page(serve):
    assert "pagination" not in serve(Neighbours.as_view()).call().envelope["meta"]


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


@pytest.mark.parametrize("link", ["http://[::1?page=2", "//[?page=2"])
@pytest.mark.parametrize("data", [{"count": 2, "previous": None, "results": [1]}, {"rows": [1]}])
def test_a_link_that_is_no_url_fails_no_call(serve, link, data):
    answer = {**data, "next": link}

    class Mirror(generics.GenericAPIView):
        permission_classes = []

        def get(self, request):
            return Response(answer)

    result = serve(path("thing/", Mirror.as_view())).call()
    assert not result.is_error
    assert result.data == answer
