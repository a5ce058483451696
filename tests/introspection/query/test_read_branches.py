"""What source shows of query parameters besides their names."""

from __future__ import annotations

import django_filters.rest_framework as django_filters
import pytest
from django.contrib.auth.models import Group, User
from django.shortcuts import get_object_or_404
from django.urls import path
from rest_framework import pagination, permissions, serializers, views, viewsets
from rest_framework.authtoken.models import Token
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from drf_mcp.describers import PathKwarg
from drf_mcp.exposure import registry
from tests.introspection.inspected import by_name, described

TEXT = {"type": "string"}


class Rows(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username"]


class Users(viewsets.ModelViewSet):
    queryset = User.objects.order_by("id")
    serializer_class = Rows
    filter_backends = []
    pagination_class = None

    @action(detail=True)
    def card(self, request, pk):
        return Response(self.get_object().pk)


def reading(body):
    """Return a view class whose get_queryset() first calls a function."""

    def get_queryset(self):
        body(self, self.request.query_params)
        return User.objects.all()

    return type("Reading", (Users,), {"get_queryset": get_queryset})


def listed(view_class, action_name, method=None):
    query = by_name(described(view_class, method, action_name).query)
    return {name for name, parameter in query.items() if parameter.listed}


def unread(view_class, action_name, method=None):
    query = by_name(described(view_class, method, action_name).query)
    return {name for name, parameter in query.items() if parameter.is_unread}


def read_mine(self, query):
    return query.get("mine")


# --- Branches


def by_equality(self, query):
    if self.action == "list" and query.get("mine"):
        return 1


def by_membership(self, query):
    if self.action in ("list", "other"):
        query.get("mine")


def by_early_return(self, query):
    if self.action != "list":
        return
    query.get("mine")


def by_else(self, query):
    if self.action in {"retrieve", "card"}:
        pass
    else:
        query["mine"]


def by_variable(self, query):
    is_list = self.action == "list"
    if not is_list:
        return None
    return query.get("mine")


def by_expression(self, query):
    return query.get("mine") if self.action == "list" else None


def by_match(self, query):
    match self.action:
        case "list":
            query.get("mine")


def by_getattr(self, query):
    if getattr(self, "action", None) == "list":
        query.get("mine")


def by_helper(self, query):
    if self.action == "list":
        narrow(query)


def narrow(query):
    return query.get("mine")


BRANCHES = [by_equality, by_membership, by_early_return, by_else, by_variable, by_expression]
BRANCHES += [by_match, by_getattr, by_helper]


def test_a_name_in_a_branch_for_an_action_is_listed_for_this_action_only():
    for branch in BRANCHES:
        view_class = reading(branch)
        assert listed(view_class, "list") == {"mine"}, branch
        assert listed(view_class, "card", "GET") == set(), branch
        assert unread(view_class, "card", "GET") == {"mine"}, branch
        assert unread(view_class, "list") == set(), branch


def test_a_name_in_a_branch_for_a_method_is_listed_for_this_method_only():
    class Both(views.APIView):
        def get(self, request):
            return self.answer(request)

        post = get

        def answer(self, request):
            if request.method == "GET":
                return Response(request.GET.get("depth"))
            return Response(request.GET.get("notify"))

    assert listed(Both, None, "GET") == {"depth"}
    assert listed(Both, None, "POST") == {"notify"}


def test_a_name_after_a_branch_that_the_call_decides_is_listed():
    def by_user(self, query):
        if self.request.user.is_staff:
            return
        query.get("mine")

    assert listed(reading(by_user), "list") == {"mine"}


@pytest.mark.django_db
def test_a_name_of_another_action_is_taken_with_a_warning(expose, agent_of):
    expose(path("users/<int:pk>/", reading(by_equality).as_view({"get": "retrieve"}, detail=True)))
    user = User.objects.create_superuser("ann")
    Token.objects.create(user=user)
    (name,) = registry.tools()
    result = agent_of(user).call(name, id=user.pk, mine="1")
    assert not result.is_error
    (warning,) = result.envelope["meta"]["warnings"]
    assert warning == "Not read by this tool, only by others of the view: 'mine'."


# --- Writes


def test_a_name_that_narrows_what_a_write_may_reach_is_not_listed_on_the_write():
    view_class = reading(read_mine)
    assert listed(view_class, "retrieve") == {"mine"}
    assert listed(view_class, "partial_update") == listed(view_class, "destroy") == set()
    assert unread(view_class, "partial_update") == set()


def test_a_name_without_which_a_write_is_refused_is_listed_on_the_write():
    def strictly(self, query):
        return query["tenant"]

    def refusing(self, query):
        tenant = query.get("tenant")
        if not tenant:
            raise ValidationError("Which tenant?")

    for body in (strictly, refusing):
        assert listed(reading(body), "partial_update") == {"tenant"}, body


@pytest.mark.django_db
def test_a_change_without_a_member_of_the_body_says_that_nothing_was_sent(expose, agent_of):
    expose(path("users/<int:pk>/", Users.as_view({"patch": "partial_update"}, detail=True)))
    user = User.objects.create_superuser("ann")
    Token.objects.create(user=user)
    (name,) = registry.tools()
    result = agent_of(user).call(name, id=user.pk)
    (warning,) = result.envelope["meta"]["warnings"]
    assert warning == "Nothing was sent to change: the body had no member."
    result = agent_of(user).call(name, id=user.pk, username="bob")
    assert "warnings" not in result.envelope["meta"]


# --- Values

COLUMNS = ("username", "email")


def schema_of(read, name="by"):
    def get(self, request):
        read(request.query_params)
        return Response()

    view_class = type("Reading", (views.APIView,), {"get": get})
    return by_name(described(view_class, "GET").query)[name].schema


def test_values_that_are_compared_are_named():
    def one(query):
        return 1 if query.get("by") == "user" else 2

    def several(query):
        by = query.get("by")
        if by == "user":
            return 1
        if by in ["group", "team"]:
            return 2

    def table(query):
        return {"user": 1, "group": 2}.get(query.get("by"))

    def cases(query):
        match query.get("by", "").lower():
            case "user" | "group":
                return 1

    expected = ["Known value: user.", "Known values: user, group, team."]
    expected += ["Known values: user, group."] * 2
    found = [schema_of(read).get("description") for read in (one, several, table, cases)]
    assert found == expected


def test_values_are_an_enumeration_where_every_other_value_is_refused():
    def refused(query):
        by = query.get("by", "username")
        if by not in COLUMNS:
            raise ValidationError({"by": "Unknown."})

    def answered(query):
        by = query.get("by", "username")
        if by and by not in COLUMNS:
            return Response({"by": "Unknown."}, status=400)

    expected = {"type": "string", "enum": ["username", "email"], "default": "username"}
    for read in (refused, answered):
        assert schema_of(read) == expected, read


def test_values_are_no_enumeration_where_only_some_callers_are_refused():
    def partly(query):
        by = query.get("by")
        if query.get("strict") == "x":
            by = by.strip()
            if by not in COLUMNS:
                raise ValidationError("Unknown.")

    assert "enum" not in schema_of(partly)


def test_a_switch_is_a_boolean():
    def switch(query):
        return query.get("by", "false").lower() in ("true", "1", "yes")

    assert schema_of(switch) == {"type": "boolean"}


def test_a_value_that_is_converted_has_its_type_and_default():
    def number(query):
        return int(query.get("by", 20))

    def text(query):
        return int(query.get("by", "20"))

    assert schema_of(number) == schema_of(text) == {"type": "integer", "default": 20}


def test_what_is_read_without_a_branch_is_required():
    def strictly(query):
        return query["by"]

    def presently(query):
        if "by" not in query:
            raise ValidationError("Missing.")
        return query["by"]

    def perhaps(query):
        if "by" in query:
            return query["by"]
        return None

    def caught(query):
        try:
            return query["by"]
        except KeyError:
            return None

    required = []
    for read in (strictly, presently, perhaps, caught):
        (by,) = described(type("Reading", (views.APIView,), {"get": wrap(read)}), "GET").query
        required.append(by.required)
    assert required == [True, True, False, False]


def wrap(read):
    def get(self, request):
        return Response(read(request.query_params))

    return get


# --- Objects


def test_a_name_that_finds_an_object_is_its_key():
    def found(query):
        return get_object_or_404(Group, name=query.get("by"))

    def got(query):
        return Group.objects.get(name=query["by"])

    def filtered(query):
        return User.objects.filter(groups=1, id=query.get("by")).first()

    relations = []
    for read in (found, got, filtered):
        (by,) = described(type("R", (views.APIView,), {"get": wrap(read)}), "GET").query
        relation = by.value_info[()].relation
        relations.append((relation.model, relation.key))
    assert relations == [(Group, "name"), (Group, "name"), (User, "pk")]


def test_a_name_that_is_compared_with_a_column_is_no_key():
    def filtered(query):
        return User.objects.filter(first_name=query.get("by"))

    (by,) = described(type("R", (views.APIView,), {"get": wrap(filtered)}), "GET").query
    assert by.value_info == {}


# --- What a name is for


def test_what_a_serializer_or_a_paginator_reads_chooses_no_rows():
    class Shaped(Rows):
        def get_fields(self):
            self.context["request"].query_params.get("only")
            return super().get_fields()

    class Sized(pagination.BasePagination):
        def paginate_queryset(self, queryset, request, view=None):
            return queryset[: int(request.GET.get("size", 20))]

    view_class = reading(read_mine)
    view_class = type("V", (view_class,), {"serializer_class": Shaped, "pagination_class": Sized})
    query = by_name(described(view_class, action="list").query)
    assert {name: each.role for name, each in query.items()} == {
        "mine": "filter",
        "only": "page",
        "size": "page",
    }


def test_the_filters_of_a_filter_set_that_is_made_of_the_query_are_parameters():
    class Named(django_filters.FilterSet):
        named = django_filters.CharFilter(field_name="username")

    class Found(views.APIView):
        def get(self, request):
            return Response(Named(request.GET, queryset=User.objects.all()).qs.count())

    assert set(by_name(described(Found, "GET").query)) == {"named"}


# --- Objects that are given the request


class Chooser:
    def __init__(self, request):
        self.query = request.GET

    def apply(self, rows):
        return rows.filter(username=self.query["named"]) if "named" in self.query else rows


def test_an_object_that_is_given_the_request_is_read():
    def chosen(self, query):
        return Chooser(self.request).apply(User.objects.all())

    view_class = reading(chosen)
    schema = described(view_class, action="list")
    assert set(by_name(schema.query)) == {"named"}
    assert not schema.query_opened_by


def test_an_attribute_that_holds_the_query_is_read():
    class Kept(Users):
        def initial(self, request, *args, **kwargs):
            super().initial(request, *args, **kwargs)
            self.params = request.query_params

        def get_queryset(self):
            return User.objects.filter(username=self.params.get("named"))

    assert listed(Kept, "list") == {"named"}


def test_a_copy_that_a_helper_makes_is_read():
    def normalize(query):
        return {name: values[-1] for name, values in query.lists()}

    def hidden(self, query):
        return normalize(query).get("hide")

    view_class = reading(hidden)
    schema = described(view_class, action="list")
    assert set(by_name(schema.query)) == {"hide"}
    assert not schema.query_opened_by


def test_a_query_that_is_read_whole_opens_the_query():
    def whole(self, query):
        return [name for name, value in query.items()]

    schema = described(reading(whole), action="list")
    assert schema.query_opened_by.endswith("passes request.query on")


# --- Other classes


class Flagged(Rows):
    def get_fields(self):
        if self.context["view"].action == "list":
            self.context["request"].query_params.get("only")
        return super().get_fields()


class Backend:
    def filter_queryset(self, request, queryset, view):
        if view.action == "list":
            return queryset.filter(username=request.GET.get("named"))
        return queryset

    def get_schema_operation_parameters(self, view):
        return []


def test_a_serializer_or_a_backend_may_read_for_one_action():
    view_class = type("V", (Users,), {"serializer_class": Flagged, "filter_backends": [Backend]})
    assert listed(view_class, "list") == {"only", "named"}
    assert listed(view_class, "retrieve") == set()
    assert "only" in unread(view_class, "retrieve")


def test_what_a_permission_reads_is_an_argument():
    class HasCode(permissions.BasePermission):
        def has_permission(self, request, view):
            return request.query_params.get("code") == "x"

    view_class = type("V", (Users,), {"permission_classes": [HasCode | permissions.AllowAny]})
    assert listed(view_class, "destroy") == {"code"}


def test_what_the_serializer_of_a_method_field_reads_is_an_argument():
    class Outer(Rows):
        card = serializers.SerializerMethodField()

        class Meta:
            model = User
            fields = ["id", "card"]

        def get_card(self, user):
            return Flagged(user, context=self.context).data

    assert listed(type("V", (Users,), {"serializer_class": Outer}), "list") == {"only"}


def test_the_alternative_of_an_empty_value_is_its_default():
    def either(query):
        return query.get("by") or "username"

    assert schema_of(either) == {"type": "string", "default": "username"}


def test_a_kwarg_that_finds_an_object_is_its_key():
    class Found(views.APIView):
        def get(self, request, named, other):
            get_object_or_404(Group, name=named)
            return Response(User.objects.get(pk=self.kwargs["other"]).pk)

    kwargs = tuple(PathKwarg(name) for name in ("named", "other"))
    named, other = described(Found, "GET", path_kwargs=kwargs).path
    assert named.value_info[()].relation.model is Group
    assert other.value_info[()].relation.model is User
