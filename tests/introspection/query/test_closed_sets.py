"""Values that a view would silently ignore are refused, with those that it accepts."""

from __future__ import annotations

import django_filters
import django_filters.rest_framework as rest_filters
import pytest
from django.db.models import Value
from django.urls import path
from rest_framework import filters, pagination, viewsets
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory
from rest_framework.versioning import QueryParameterVersioning

from drf_mcp.exposure import registry
from example_project.shop.models import Order
from tests.introspection.query.loans import OrderRows, Pages

ORDERED = {"filter_backends": [filters.OrderingFilter], "ordering_fields": ["number", "placed_at"]}


class Orders(viewsets.ReadOnlyModelViewSet):
    queryset = Order.objects.order_by("id")
    serializer_class = OrderRows
    permission_classes = [AllowAny]
    authentication_classes = []
    filter_backends = []
    pagination_class = Pages


@pytest.fixture
def listed(expose, agent_of, http_of):
    """Returns a class that serves a list of orders and calls it over HTTP and as a tool."""

    class Listed:
        agent = agent_of(None)
        http = http_of(None)

        def __init__(self, base=Orders, settings=None, **attributes):
            callback = type("Listed", (base,), attributes).as_view({"get": "list"})
            expose(path("orders/", callback), **(settings or {}))
            (self.name,) = registry.tools()

        def call(self, **arguments):
            return self.agent.call(self.name, **arguments)

        def get(self, **query):
            return self.http.get("/orders/", query)

        def ids(self, **arguments):
            result = self.call(**arguments)
            assert not result.is_error, result.envelope
            return [row["id"] for row in result.data["results"]]

    return Listed


def only_problem(result):
    assert result.is_error
    assert result.code == "VALIDATION_ERROR"
    (problem,) = result.problems
    return problem


# --- Ordering


def test_an_ordering_term_that_does_not_exist_is_refused(listed):
    orders = listed(**ORDERED)
    for value in ["plced_at", ["plced_at"], "number,plced_at", "-plced_at"]:
        problem = only_problem(orders.call(ordering=value))
        sign = "-" if value == "-plced_at" else ""
        assert problem["code"] == "invalid_choice", value
        assert problem["message"] == f'"{sign}plced_at" is not a valid choice.', value
        assert problem["accepted"] == "one of number, -number, placed_at, -placed_at", value
        assert f"Did you mean '{sign}placed_at'?" in problem["remediation"], value


def test_each_refused_term_has_its_pointer(listed):
    orders = listed(**ORDERED)
    cases = [
        ("no", ["/ordering"]),
        (["number", "no"], ["/ordering/1"]),
        ("no,never", ["/ordering", "/ordering"]),
        (["no", "-number,never"], ["/ordering/0", "/ordering/1"]),
        ('["no"]', ["/ordering/0"]),
        (5, ["/ordering"]),
        ({"number": 1}, ["/ordering"]),
        ("--number", ["/ordering"]),
        ("+number", ["/ordering"]),
        ("Number", ["/ordering"]),
    ]
    results = [orders.call(ordering=value) for value, _ in cases]
    found = [[problem["pointer"] for problem in result.problems] for result in results]
    assert found == [pointers for _, pointers in cases]


@pytest.mark.slow
def test_valid_terms_sort_as_over_http(listed):
    orders = listed(**ORDERED)
    for value in ["number", "-number", "-placed_at,number", " number , -placed_at", "", "number,"]:
        rows = orders.get(ordering=value).json()["results"]
        assert orders.ids(ordering=value) == [row["id"] for row in rows], value
    for terms in [["-placed_at", "number"], [], ["number", ""]]:
        rows = orders.get(ordering=",".join(terms)).json()["results"]
        assert orders.ids(ordering=terms) == [row["id"] for row in rows], terms
    assert orders.ids(ordering=None) == [row["id"] for row in orders.get().json()["results"]]


def test_terms_are_closed_if_they_are_the_fields_of_the_serializer(listed):
    orders = listed(filter_backends=[filters.OrderingFilter])
    assert only_problem(orders.call(ordering="customer"))["pointer"] == "/ordering"
    assert orders.ids(ordering="-number") == [
        row["id"] for row in orders.get(ordering="-number").json()["results"]
    ]


class ByCaller(filters.OrderingFilter):
    def get_valid_fields(self, queryset, view, context=None):
        return [("number", "Number")] if view.request.query_params else [("id", "Id")]


class Popular(filters.BaseFilterBackend):
    """Accepts one more term than the stock filter."""

    def filter_queryset(self, request, queryset, view):
        if request.query_params.get("ordering") == "popular":
            return queryset.order_by("-id")
        return queryset


def get_popular(self):
    rows = Order.objects.order_by("id")
    return rows.reverse() if self.request.query_params.get("ordering") == "popular" else rows


def get_all_parameters(self):
    query = dict(self.request.query_params.items())
    return Order.objects.order_by("-id" if query.get("ordering") == "popular" else "id")


def get_annotated(self):
    return Order.objects.annotate(**{self.request.query_params.get("as", "x"): Value(1)})


@pytest.mark.slow
def test_terms_are_left_to_the_view_if_other_code_may_read_them(listed):
    for attributes in [
        {"filter_backends": [ByCaller]},
        {"ordering_fields": property(lambda self: ["number"])},
        {"filter_backends": [filters.OrderingFilter, Popular]},
        {"filter_backends": [Popular, filters.OrderingFilter]},
        {"get_queryset": get_popular},
        {"get_queryset": get_all_parameters},
        {"get_queryset": get_annotated, "ordering_fields": "__all__"},
        {"ordering_fields": None, "get_serializer_class": lambda self: {True: OrderRows}[True]},
    ]:
        orders = listed(**{**ORDERED, **attributes})
        assert not orders.call(ordering="popular").is_error, attributes


# --- Booleans


class Switches(rest_filters.FilterSet):
    """Booleans as REST framework's filter sets read them."""

    active = rest_filters.BooleanFilter("customer__is_active")
    unsold = rest_filters.BooleanFilter("lines", lookup_expr="isnull")

    class Meta:
        model = Order
        fields = []


class PlainSwitches(django_filters.FilterSet):
    """Booleans as Django's forms read them."""

    active = django_filters.BooleanFilter("customer__is_active")

    class Meta:
        model = Order
        fields = []


def expose_filter_set(listed, filterset_class, **attributes):
    backends = [rest_filters.DjangoFilterBackend]
    return listed(filter_backends=backends, filterset_class=filterset_class, **attributes)


SWITCHED = [True, False, "True", "TRUE", "0", "1", 1, "2", "3", "yes", "null", 5, "", " "]


@pytest.mark.slow
def test_a_boolean_that_http_ignores_is_refused(listed):
    for filterset_class in [Switches, PlainSwitches]:
        orders = expose_filter_set(listed, filterset_class)
        for value in SWITCHED:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            filterset = filterset_class({"active": text}, Order.objects.all())
            assert filterset.is_valid()
            ignored = filterset.form.cleaned_data["active"] is None
            result = orders.call(active=value)
            assert result.is_error == (ignored and bool(text.strip())), (filterset_class, value)
            if result.is_error:
                is_near = text.lower() == "true"
                near = "Did you mean 'true'?" if is_near else "Send one of true, false."
                assert only_problem(result)["remediation"] == near
            else:
                assert result.data["results"] == orders.get(active=text).json()["results"]


class Lenient(rest_filters.DjangoFilterBackend):
    """Ignores invalid values."""

    raise_exception = False


class Numbers(rest_filters.FilterSet):
    least = rest_filters.NumberFilter("id", lookup_expr="gte")
    status = rest_filters.ChoiceFilter(choices=Order.Status.choices)
    since = rest_filters.IsoDateTimeFilter("placed_at", lookup_expr="gte")


def test_values_that_a_lenient_backend_ignores_are_refused_as_by_a_strict_one(listed):
    dropped = {"least": "many", "status": "sold", "since": "yesterday"}
    orders = listed(filter_backends=[Lenient], filterset_class=Numbers)
    for name, value in dropped.items():
        assert orders.get(**{name: value}).json()["results"] == orders.get().json()["results"]
        assert only_problem(orders.call(**{name: value}))["pointer"] == f"/{name}"
    strict = listed(filter_backends=[rest_filters.DjangoFilterBackend], filterset_class=Numbers)
    for name, value in dropped.items():
        assert strict.get(**{name: value}).status_code == 400
        assert only_problem(strict.call(**{name: value}))["pointer"] == f"/{name}"


# --- Pages


class Window(pagination.LimitOffsetPagination):
    default_limit = 5
    max_limit = 20


class Cursors(pagination.CursorPagination):
    page_size = 5
    page_size_query_param = "size"
    ordering = "id"


PAGES = [(Pages, "page_size"), (Cursors, "size"), (Window, "limit"), (Window, "offset")]


def is_ignored(pagination_class, name, text):
    factory = APIRequestFactory()
    default, *read = (
        getattr(pagination_class(), READERS.get(name, "get_page_size"))(
            Request(factory.get("/", query))
        )
        for query in ({}, {name: text})
    )
    return read == [default] and text.strip() != str(default)


READERS = {"offset": "get_offset", "limit": "get_limit"}
NUMBERS = [0, -1, "many", "5.0", 2.5, True, "3", 3, " 4 ", "", 1000]


@pytest.mark.slow
def test_a_page_number_or_size_that_http_ignores_is_refused(listed):
    for pagination_class, name in PAGES:
        orders = listed(pagination_class=pagination_class)
        least = 0 if name == "offset" else 1
        for value in NUMBERS:
            text = "true" if value is True else str(value)
            result = orders.call(**{name: value})
            ignored = is_ignored(pagination_class, name, text) and text != ""
            assert result.is_error == ignored, (name, value)
            if result.is_error:
                problem = only_problem(result)
                assert problem["pointer"] == f"/{name}"
                assert problem["remediation"] == f"Send an integer of at least {least}."
            else:
                assert result.data["results"] == orders.get(**{name: text}).json()["results"]


def test_values_that_rest_framework_refuses_are_left_to_it(listed):
    for attributes, arguments in [
        ({"pagination_class": Pages}, {"page": 0}),
        ({"pagination_class": Cursors}, {"cursor": "nonsense"}),
        ({"versioning_class": QueryParameterVersioning}, {"version": "v9"}),
    ]:
        if "versioning_class" in attributes:
            own = {"allowed_versions": ("v1",), "default_version": "v1"}
            attributes = {"versioning_class": type("Own", (QueryParameterVersioning,), own)}
        orders = listed(**attributes)
        assert orders.get(**arguments).status_code == 404
        assert orders.call(**arguments).code == "NOT_FOUND"
