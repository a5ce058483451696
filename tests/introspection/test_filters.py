"""Query parameters of filter backends: django-filter, search, ordering, and other backends."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django import forms
from django.contrib.auth.models import Group, User
from django_filters.widgets import CSVWidget
from rest_framework import filters, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from tests.introspection.inspected import bare, by_name, described, form, schemas

TEXT = {"type": "string"}


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "password"]
        extra_kwargs = {"password": {"write_only": True}}


class Users(viewsets.ModelViewSet):
    queryset = User.objects.all()
    serializer_class = UserSerializer
    filter_backends = []
    pagination_class = None


def users(*backends, **attributes):
    return type("OwnUsers", (Users,), {"filter_backends": backends, **attributes})


class InNumbers(django_filters.BaseInFilter, django_filters.NumberFilter):
    """``id__in=1,2``."""


class RangeOfNumbers(django_filters.BaseRangeFilter, django_filters.NumberFilter):
    """``id__range=1,2``."""


class Spelled(forms.IntegerField):
    """A form field with its own conversion."""

    def to_python(self, value):
        return {"one": 1}.get(value)


class SpelledFilter(django_filters.Filter):
    field_class = Spelled


SIZES = [("s", "Small"), ("m", "m")]


class UserFilters(django_filters.FilterSet):
    number = django_filters.NumberFilter("id", min_value=1)
    char = django_filters.CharFilter("username", help_text="Part of it", required=True)
    boolean = django_filters.BooleanFilter("is_staff")
    choice = django_filters.ChoiceFilter(choices=SIZES)
    typed_choice = django_filters.TypedChoiceFilter(choices=[(1, "One")], coerce=int)
    boolean_choice = django_filters.ChoiceFilter(choices=[(True, "Yes"), (False, "No")])
    late_choice = django_filters.ChoiceFilter(choices=lambda: 1 / 0)
    grouped_choice = django_filters.ChoiceFilter(choices=[("Group", [("a", "A")])])
    choices = django_filters.MultipleChoiceFilter(choices=SIZES)
    comma_choices = django_filters.MultipleChoiceFilter(choices=SIZES, widget=CSVWidget)
    group = django_filters.ModelChoiceFilter(queryset=Group.objects.all())
    group_name = django_filters.ModelChoiceFilter(
        queryset=Group.objects.all(), to_field_name="name"
    )
    late_group = django_filters.ModelChoiceFilter(queryset=lambda request: Group.objects.all())
    groups = django_filters.ModelMultipleChoiceFilter(queryset=Group.objects.all())
    date = django_filters.DateFilter("date_joined")
    date_time = django_filters.DateTimeFilter("date_joined")
    iso_date_time = django_filters.IsoDateTimeFilter("date_joined")
    time = django_filters.TimeFilter("date_joined")
    duration = django_filters.DurationFilter("date_joined")
    uuid = django_filters.UUIDFilter("username")
    numbers = django_filters.RangeFilter("id")
    dates = django_filters.DateFromToRangeFilter("date_joined")
    times = django_filters.TimeRangeFilter("date_joined")
    past = django_filters.DateRangeFilter(field_name="date_joined")
    in_numbers = InNumbers("id", lookup_expr="in")
    range_of_numbers = RangeOfNumbers("id", lookup_expr="range")
    lookup = django_filters.LookupChoiceFilter(
        "id", field_class=forms.DecimalField, lookup_choices=[("gt", "Above"), ("lt", "Below")]
    )
    all_values = django_filters.AllValuesFilter("id")
    all_multiple = django_filters.AllValuesMultipleFilter("username")
    sort = django_filters.OrderingFilter(fields=["username", ("date_joined", "joined")])
    spelled = SpelledFilter("id")
    in_group = django_filters.BooleanFilter("groupless", lookup_expr="isnull", exclude=True)

    class Meta:
        model = User
        fields = {"username": ["exact", "icontains"], "id": ["gte"], "is_staff": ["exact"]}


NUMBER = {"type": "number"}
EXPECTED = {
    "number": ({"type": "number", "minimum": 1}, None),
    "char": ({**TEXT, "maxLength": 150}, None),
    "boolean": ({"type": "boolean"}, None),
    "choice": ({**TEXT, "enum": ["s", "m"]}, None),
    "typed_choice": ({"type": "integer", "enum": [1]}, None),
    "boolean_choice": ({**TEXT, "enum": ["True", "False"]}, None),
    "late_choice": (TEXT, None),
    "grouped_choice": ({**TEXT, "enum": ["a"]}, None),
    "choices": ({"type": "array", "items": {**TEXT, "enum": ["s", "m"]}}, "repeat"),
    "comma_choices": ({"type": "array", "items": {**TEXT, "enum": ["s", "m"]}}, "comma"),
    "group": ({"type": "integer"}, None),
    "group_name": (TEXT, None),
    "late_group": ({"type": "integer"}, None),
    "groups": ({"type": "array", "items": {"type": "integer"}}, "repeat"),
    "date": (form("date"), None),
    "date_time": ({**TEXT, "format": "date-time"}, None),
    "iso_date_time": ({**TEXT, "format": "date-time"}, None),
    "time": (form("time"), None),
    "duration": (form("duration"), None),
    "uuid": (form("uuid"), None),
    "numbers_min": (NUMBER, None),
    "numbers_max": (NUMBER, None),
    "dates_after": (form("date"), None),
    "dates_before": (form("date"), None),
    "times_after": (form("time"), None),
    "times_before": (form("time"), None),
    "past": ({**TEXT, "enum": ["today", "yesterday", "week", "month", "year"]}, None),
    "in_numbers": ({"type": "array", "items": NUMBER}, "comma"),
    "range_of_numbers": ({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}, "comma"),
    "lookup": (NUMBER, None),
    "lookup_lookup": ({**TEXT, "enum": ["gt", "lt"]}, None),
    "all_values": ({"type": "integer"}, None),
    "all_multiple": ({"type": "array", "items": TEXT}, "repeat"),
    "sort": (
        {
            "type": "array",
            "items": {**TEXT, "pattern": "^-?(username|joined)$"},
        },
        "comma",
    ),
    "spelled": (TEXT, None),
    "in_group": ({"type": "boolean"}, None),
    "username": ({**TEXT, "maxLength": 150}, None),
    "username__icontains": (TEXT, None),
    "id__gte": (NUMBER, None),
    "is_staff": ({"type": "boolean"}, None),
}


@pytest.fixture(scope="module")
def filtered():
    return described(
        users(django_filters.DjangoFilterBackend, filterset_class=UserFilters), action="list"
    )


def test_every_filter_is_a_parameter(filtered):
    assert set(by_name(filtered.query)) == set(EXPECTED)
    assert filtered.findings == ()


def test_the_schema_of_each_filter(filtered):
    for name in EXPECTED:
        parameter = by_name(filtered.query)[name]
        assert (bare(parameter.schema), parameter.multiple) == EXPECTED[name]
        assert parameter.required == (name == "char")


def test_the_description_of_each_filter(filtered):
    cases = [
        ("char", "Part of it."),
        ("choice", "s = Small."),
        ("username", None),
        ("username__icontains", None),
        ("in_numbers", "ID is in."),
        ("all_values", "ID. One of the values in use."),
        ("in_group", None),
        ("lookup", "ID. Needs lookup_lookup."),
        ("lookup_lookup", "ID. gt = Above, lt = Below."),
    ]
    found = [by_name(filtered.query)[name].schema.get("description") for name, _ in cases]
    assert found == [words for _, words in cases]


def test_a_filter_set_that_needs_a_caller_is_described_by_its_class():
    class Picky(django_filters.FilterSet):
        name = django_filters.NumberFilter("username")

        def __init__(self, *args, request, **kwargs):
            self.tenant = request.user.tenant
            super().__init__(*args, request=request, **kwargs)

    view = users(django_filters.DjangoFilterBackend, filterset_class=Picky)
    schema = described(view, action="list")
    assert schemas(schema.query) == {"name": NUMBER}
    assert "tenant" in schema.findings[0].message


def test_a_backend_that_raises_does_not_affect_the_others():
    class Broken(filters.BaseFilterBackend):
        def get_schema_operation_parameters(self, view):
            raise KeyError("tenant")

    view = users(Broken, filters.SearchFilter, search_fields=["username"])
    schema = described(view, action="list")
    assert set(by_name(schema.query)) == {"search"}
    assert len(schema.findings) == 1


def test_search_names_its_fields():
    view = users(filters.SearchFilter, search_fields=["^username", "groups__name"])
    parameter = by_name(described(view, action="list").query)["search"]
    assert parameter.schema == {
        "type": "string",
        "description": "Search in: username, groups name.",
    }


def test_ordering_takes_several_terms(subtests):
    for attributes, terms in [
        ({"ordering_fields": ["username"]}, "username"),
        ({"ordering_fields": [("username", "Name")]}, "username"),
        ({}, "id|username"),
    ]:
        with subtests.test(attributes=attributes, terms=terms):
            view = users(filters.OrderingFilter, **attributes)
            parameter = by_name(described(view, action="list").query)["ordering"]
            items = {"type": "string", "pattern": f"^-?({terms})$"}
            assert bare(parameter.schema) == {"type": "array", "items": items}
            assert parameter.multiple == "comma"


def test_get_schema_operation_parameters_of_a_backend_is_used():
    class Fields(filters.BaseFilterBackend):
        def get_schema_operation_parameters(self, view):
            return [
                {
                    "name": "fields",
                    "in": "query",
                    "description": "Only these",
                    "explode": False,
                    "schema": {"type": "array", "items": {"type": "string"}},
                },
                {"name": "kind", "required": True, "type": "string", "enum": ["a", None]},
                {"name": "tag", "in": "query", "schema": {"type": "array", "nullable": True}},
                {"name": "X-Tenant", "in": "header", "schema": {"type": "string"}},
            ]

    found = by_name(described(users(Fields), action="list").query)
    assert found["fields"].schema == {
        "type": "array",
        "description": "Only these.",
        "items": {"type": "string"},
    }
    assert [found[name].multiple for name in ("fields", "kind", "tag")] == ["comma", None, "repeat"]
    assert found["kind"].required
    assert found["kind"].schema == {"type": "string", "enum": ["a"]}
    assert "X-Tenant" not in found


# Actions that filter


class Acting(users(filters.SearchFilter, search_fields=["username"])):
    @action(detail=False)
    def filtered(self, request):
        return Response(self.filter_queryset(self.get_queryset()).count())

    @action(detail=False)
    def recent(self, request):
        return self.list(request)

    @action(detail=False)
    def version(self, request):
        return Response("1")

    @action(detail=False, methods=["post"])
    def archive(self, request):
        self.filter_queryset(self.get_queryset()).update(is_active=False)
        return Response()

    @action(detail=True)
    def avatar(self, request, pk):
        return Response(self.get_object().pk)


def test_filters_are_offered_for_actions_that_filter(subtests):
    for method, name, offered in [
        ("GET", "list", True),
        ("GET", "filtered", True),
        ("GET", "recent", True),
        ("POST", "archive", True),
        ("GET", "version", False),
        ("GET", "avatar", False),
        ("GET", "retrieve", False),
        ("POST", "create", False),
        ("PUT", "update", False),
        ("DELETE", "destroy", False),
    ]:
        with subtests.test(method=method, name=name, offered=offered):
            assert bool(described(Acting, method, name).query) == offered


def words_of(model, filterset_class) -> dict[str, str]:
    backend = django_filters.DjangoFilterBackend
    view = users(backend, filterset_class=filterset_class, queryset=model.objects.all())
    found = by_name(described(view, action="list").query)
    return {name: p.schema.get("description", "") for name, p in found.items()}


class Members(django_filters.FilterSet):
    class Meta:
        model = User
        fields = {"groups": ["exact", "in"], "id": ["in"]}


@pytest.mark.django_db
def test_a_filter_that_refuses_every_value_is_accepted_and_not_listed():
    own = users(django_filters.DjangoFilterBackend, filterset_class=Members)
    listed = {
        name: each.listed for name, each in by_name(described(own, action="list").query).items()
    }
    assert listed == {"groups": True, "groups__in": False, "id__in": True}
    group = Group.objects.create(name="a")
    assert not Members({"groups__in": str(group.pk)}).is_valid()
