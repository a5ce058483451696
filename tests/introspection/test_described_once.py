"""What no caller changes is described once; where that is in doubt, for several callers."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from rest_framework import filters, generics, serializers, viewsets

from drf_mcp.introspection.source.callers import asks_no_caller
from example_project.shop.models import Product
from tests.introspection.inspected import by_name, described

MADE: list[str] = []


def find_team() -> str:
    """Return something of who is calling, which the name does not say."""
    return local_user()


def local_user() -> str:
    return "nobody"


class Parcel(serializers.Serializer):
    """Overrides what NetBox does: fewer fields where the view says so."""

    weight = serializers.IntegerField()
    label = serializers.CharField(required=False)

    def __init__(self, *args, fields=None, **kwargs):
        MADE.append("serializer")
        self.kept = fields or []
        super().__init__(*args, **kwargs)

    def get_fields(self):
        made = super().get_fields()
        return {name: made[name] for name in made if name in self.kept or not self.kept}

    def validate(self, attrs):
        return {**attrs, "owner": self.context["request"].user}


class ByTeam(Parcel):
    def get_fields(self):
        return super().get_fields() if find_team() else {}


class ByValidators(Parcel):
    def get_validators(self):
        return [] if self.context["request"].user.is_staff else super().get_validators()


class OwnRelated(serializers.PrimaryKeyRelatedField):
    def get_queryset(self):
        return Product.objects.filter(owner=self.context["request"].user)


class Parcels(generics.CreateAPIView):
    serializer_class = Parcel

    def get_serializer(self, *args, **kwargs):
        names = self.request.query_params.get("fields")
        kwargs.setdefault("fields", names and names.split(","))
        return super().get_serializer(*args, **kwargs)


class ParcelsOfUser(Parcels):
    def get_serializer(self, *args, **kwargs):
        kwargs["fields"] = ["weight"] if self.request.user.is_staff else None
        return super().get_serializer(*args, **kwargs)


class ParcelsByProperty(Parcels):
    @property
    def serializer_class(self):
        return Parcel if self.request.user.is_staff else OtherParcel


class OtherParcel(Parcel):
    note = serializers.CharField()


class Products(django_filters.FilterSet):
    name = django_filters.CharFilter()

    def __init__(self, data=None, *args, **kwargs):
        MADE.append("filter set")
        if data and "saved" in data:
            data = {**data, "name": kwargs["request"].user.username}
        super().__init__(data, *args, **kwargs)

    def filter_queryset(self, queryset):
        return queryset.exclude(name=self.request.user.username)


class ProductsOfUser(Products):
    def __init__(self, data=None, *args, **kwargs):
        data = data or {"name": kwargs["request"].user.username}
        if data:
            self.of = kwargs["request"].user
        super().__init__(data, *args, **kwargs)


class ProductsWithRows(Products):
    same = django_filters.ModelChoiceFilter(queryset=lambda request: Product.objects.all())


@pytest.fixture(autouse=True)
def _nothing_made():
    MADE.clear()


def count_serializers(view_class, **attributes) -> int:
    MADE.clear()
    assert described(type("View", (view_class,), attributes), "POST").findings == ()
    return MADE.count("serializer")


def count_filter_sets(filterset_class) -> int:
    MADE.clear()
    attributes = {
        "queryset": Product.objects.all(),
        "serializer_class": Parcel,
        "filter_backends": [django_filters.DjangoFilterBackend, filters.SearchFilter],
        "filterset_class": filterset_class,
    }
    view_class = type("View", (viewsets.ModelViewSet,), attributes)
    schema = described(view_class, "GET", "list")
    assert "name" in by_name(schema.query)
    return MADE.count("filter set")


def test_a_serializer_that_no_caller_changes_is_asked_once():
    """What the view reads of the query is the same for all callers it is described for."""
    once = count_serializers(Parcels)
    assert count_serializers(ParcelsOfUser) == 2 * once


def test_a_serializer_that_a_caller_may_change_is_asked_for_several(subtests):
    for serializer_class in [ByTeam, ByValidators]:
        with subtests.test(serializer_class=serializer_class):
            once = count_serializers(Parcels)
            assert count_serializers(Parcels, serializer_class=serializer_class) == 2 * once


def test_a_class_that_the_view_chooses_in_a_property_is_described_for_every_caller():
    assert {field.name for field in described(ParcelsByProperty, "POST").body.fields} == {
        "weight",
        "label",
        "note",
    }


def test_a_filter_set_that_no_caller_changes_is_made_once():
    """It looks at the caller only under ``if data``: a view is described without a query."""
    assert count_filter_sets(Products) == 1


def test_a_filter_set_that_a_caller_may_change_is_made_for_several(subtests):
    for filterset_class in [ProductsOfUser, ProductsWithRows]:
        with subtests.test(filterset_class=filterset_class):
            assert count_filter_sets(filterset_class) == 2


def test_a_class_whose_overrides_ask_for_the_caller_is_found(subtests):
    """Also through a function that the override calls, and in what REST framework calls."""
    for owner in [ByTeam, ByValidators, OwnRelated, ProductsOfUser]:
        with subtests.test(owner=owner):
            assert not asks_no_caller(owner)


def test_what_runs_with_data_says_nothing_of_the_fields(subtests):
    for owner in [Parcel, Products, serializers.ModelSerializer]:
        with subtests.test(owner=owner):
            assert asks_no_caller(owner)


def test_a_context_of_the_project_s_own_is_made_once():
    class Rows(Parcels):
        def get_serializer_context(self):
            MADE.append("context")
            return {"request": self.request, "view": self, "format": None}

        def get_serializer(self, *args, **kwargs):
            many = isinstance(kwargs.get("data"), list)
            return super().get_serializer(*args, many=many, **kwargs)

    assert described(Rows, "POST").body.kind != "none"
    assert MADE.count("serializer") > 1
    assert MADE.count("context") == 1
