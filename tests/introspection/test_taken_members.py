"""Members of a body that code reads besides fields: by name they are described, else any passes."""

from __future__ import annotations

import logging
from typing import ClassVar

import pytest
from django.contrib.auth.models import Group
from rest_framework import generics, permissions, serializers, throttling, viewsets
from rest_framework.response import Response

from example_project.shop.models import Order
from tests.introspection.inspected import by_name, described

logger = logging.getLogger(__name__)
SUFFIX = "suffix"


class Plain(serializers.Serializer):
    name = serializers.CharField()


def body_of(serializer_class=Plain, base=generics.CreateAPIView, method="POST", **members):
    view = type("View", (base,), {"serializer_class": serializer_class, **members})
    return described(view, method).body


def names_of(body):
    return set(by_name(body.fields))


def members_at(body, name, *place):
    return by_name(body.fields)[name].value_info[place].members


def walk(rows):
    return [row.get("id") for row in rows]


# --- Serializers ----------------------------------------------------------------------------------


class ByName:
    """Read a member by its name."""

    def validate(self, attrs):
        return {**attrs, "by": self.context["request"].data.get("suffix", "")}

    def create(self, validated_data):
        return self.initial_data["suffix"]

    def save(self, **kwargs):
        return super().save(by=self.context.get("request").POST.get("suffix"))

    def validate_name(self, value):
        data = self.initial_data
        return value + data.get(SUFFIX, "")

    def to_internal_value(self, data):
        return {**super().to_internal_value(data), "by": data.get("suffix")}

    def update(self, instance, validated_data):
        return pick(self.initial_data)

    def run_validation(self, data=serializers.empty):
        value = super().run_validation(data)
        return value if "suffix" in data else None


def pick(data):
    return data.get("suffix")


METHODS = {name: each for name, each in vars(ByName).items() if not name.startswith("__")}


@pytest.mark.parametrize("way", METHODS)
def test_a_member_that_is_read_by_its_name_is_described(way):
    mixin = type("Mixin", (), {way: METHODS[way]})
    body = body_of(type("Own", (mixin, Plain), {}))
    assert names_of(body) == {"name", "suffix"}
    assert not body.opened_by


class Whole:
    """Read the body whole, or by names that only running code knows."""

    def validate(self, attrs):
        return {**attrs, "extra": {**self.context["request"].data}}

    def create(self, validated_data):
        return [value for key, value in self.initial_data.items() if key.startswith("x_")]

    def update(self, instance, validated_data):
        for name in self.fields:
            instance[name] = self.initial_data[f"{name}_by"]
        return instance

    def save(self, **kwargs):
        return Group.objects.create(**self.initial_data)

    def validate_name(self, value):
        return self.service.check(self.context["request"])

    def to_internal_value(self, data):
        unknown = set(data) - set(self.fields)
        return {**super().to_internal_value(data), "unknown": unknown}

    def is_valid(self, **kwargs):
        self.kept = self.initial_data
        return super().is_valid(**kwargs)

    def to_representation(self, instance):
        return {"sent": self.context["request"].data}


def check_kept(self):
    return Group(**self.kept)


@pytest.mark.parametrize("way", [n for n in vars(Whole) if not n.startswith("__")])
def test_a_body_that_is_read_whole_is_open(way):
    function = vars(Whole)[way]
    more = {"check": check_kept} if way == "is_valid" else {}
    mixin = type("Mixin", (), {way: function, **more})
    body = body_of(type("Own", (mixin, Plain), {}))
    assert body.opened_by
    assert "test_taken_members.py:" in body.opened_by


class Closed:
    """Read validated data alone, or give the body to nobody."""

    def validate(self, attrs):
        return {name: value for name, value in attrs.items() if value}

    def create(self, validated_data):
        logger.info("Created by %s", self.context["request"].data)
        return Group(**validated_data)

    def to_internal_value(self, data):
        data = super().to_internal_value(data)
        return {**data, "names": list(data)}

    def get_initial(self):
        return super().get_initial()

    def is_valid(self, **kwargs):
        if not self.initial_data or isinstance(self.initial_data, list):
            return False
        return super().is_valid(**kwargs)


@pytest.mark.parametrize("way", [n for n in vars(Closed) if not n.startswith("__")])
def test_code_of_validated_data_leaves_the_body_closed(way):
    mixin = type("Mixin", (), {way: vars(Closed)[way]})
    body = body_of(type("Own", (mixin, Plain), {}))
    assert names_of(body) == {"name"}
    assert not body.opened_by


class Nestable(serializers.Serializer):
    """Take the value of a nested object as it is."""

    def __init__(self, *args, nested=False, **kwargs):
        self.nested = nested
        super().__init__(*args, **kwargs)

    def to_internal_value(self, data):
        if self.nested:
            return Group(**data)
        return super().to_internal_value(data)


def test_a_branch_that_a_flag_of_the_serializer_excludes_opens_nothing():
    class Own(Nestable):
        name = serializers.CharField()

    class Holder(Own):
        inner = Own()
        handed_on = Own(nested=True)

    body = body_of(Holder)
    assert not body.opened_by
    assert not members_at(body, "inner").opened_by
    assert members_at(body, "handed_on") is None  # takes any value


def test_a_flag_that_a_call_sets_excludes_no_branch():
    class Own(Nestable):
        name = serializers.CharField()

        def is_valid(self, **kwargs):
            self.nested = "name" in self.initial_data
            return super().is_valid(**kwargs)

    assert body_of(Own).opened_by


def test_rest_frameworks_own_code_leaves_the_body_closed():
    class Row(serializers.ModelSerializer):
        class Meta:
            model = Group
            fields: ClassVar = ["id", "name", "permissions"]

    class View(viewsets.ModelViewSet):
        queryset = Group.objects.all()
        serializer_class = Row
        permission_classes = [permissions.DjangoModelPermissions]

    assert not described(View, action="create").body.opened_by


# --- Fields, defaults and validators --------------------------------------------------------------


class OfRequest:
    requires_context = True

    def __call__(self, serializer_field):
        return serializer_field.context["request"].data.get("owner")


class OfAll(OfRequest):
    def __call__(self, serializer_field):
        return dict(serializer_field.context["request"].data.items())


def test_a_default_that_reads_a_member():
    class Own(Plain):
        by = serializers.CharField(default=OfRequest())

    body = body_of(Own)
    assert names_of(body) == {"name", "by", "owner"}
    assert not body.opened_by


def test_a_default_that_reads_the_body_whole():
    class Own(Plain):
        by = serializers.CharField(default=OfAll())

    assert body_of(Own).opened_by


def test_a_validator_that_reads_the_body():
    class Matches:
        requires_context = True

        def __call__(self, value, serializer_field):
            if serializer_field.parent.initial_data.get("confirmation") != value:
                raise serializers.ValidationError("No.")

    class Own(Plain):
        password = serializers.CharField(validators=[Matches()])

    assert names_of(body_of(Own)) == {"name", "password", "confirmation"}


class Elsewhere(serializers.CharField):
    """Makes its value of members with other names."""

    def get_value(self, dictionary):
        return f"{dictionary.get('first', '')} {dictionary.get('last', '')}"


def test_a_field_that_reads_other_members_is_not_required():
    class Own(Plain):
        full = Elsewhere()

    fields = by_name(body_of(Own).fields)
    assert {name: field.required for name, field in fields.items()} == {
        "name": True,
        "full": False,
        "first": False,
        "last": False,
    }


# --- Nested objects and rows ----------------------------------------------------------------------


class Row(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields: ClassVar = ["id", "name"]


class Note(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    text = serializers.CharField()


def nested(update):
    class Holder(serializers.Serializer):
        rows = Row(many=True)
        note = Note()

    Holder.update = update
    return Holder


def by_key(self, instance, validated_data):
    for row in self.initial_data["rows"]:
        Group.objects.filter(pk=row["id"]).update(name=row["name"])


def by_function(self, instance, validated_data):
    return walk(self.initial_data.get("rows"))


def by_zip(self, instance, validated_data):
    rows = validated_data.pop("rows")
    for row, sent in zip(rows, self.context["request"].data["rows"], strict=True):
        row.update(id=sent.get("id"))


@pytest.mark.parametrize("update", [by_key, by_function, by_zip])
def test_the_id_of_a_row_that_update_reads(update):
    body = body_of(nested(update))
    members = members_at(body, "rows", "*")
    assert "id" in members.writable
    assert not members.opened_by
    assert members_at(body, "note").writable == ("text",)
    row = by_name(body.fields)["rows"].schema["items"]
    assert row["properties"]["id"] == {"type": "integer", "description": "Names a row that exists."}
    assert not body.opened_by


def test_rows_that_are_handed_on_whole_are_open_and_nothing_else_is():
    def update(self, instance, validated_data):
        for row in self.initial_data["rows"]:
            Group.objects.update_or_create(**row)

    body = body_of(nested(update))
    assert members_at(body, "rows", "*").opened_by
    assert not members_at(body, "note").opened_by
    assert not body.opened_by


def test_rows_that_a_model_of_the_project_is_made_of_are_open():
    def update(self, instance, validated_data):
        return [Order(**row) for row in self.initial_data["rows"]]

    assert members_at(body_of(nested(update)), "rows", "*").opened_by


def test_all_that_is_inside_a_body_that_is_handed_on_is_open():
    def update(self, instance, validated_data):
        return self.service(self.initial_data)

    body = body_of(nested(update))
    assert body.opened_by
    assert members_at(body, "rows", "*").opened_by
    assert members_at(body, "note").opened_by


def test_the_handler_reads_the_ids_of_rows():
    class View(generics.UpdateAPIView):
        queryset = Group.objects.all()

        def perform_update(self, serializer):
            rows = self.request.data.get("rows", [])
            serializer.save(keys=[row.get("id") for row in rows])

    body = body_of(nested(lambda self: None), View, "PATCH")
    assert "id" in members_at(body, "rows", "*").writable


class Bulk(serializers.ListSerializer):
    def update(self, instance, validated_data):
        sent = {row["id"]: row for row in self.initial_data}
        return [self.child.update(each, sent[each.pk]) for each in instance]


def test_the_ids_of_bulk_rows():
    class Many(serializers.ModelSerializer):
        class Meta:
            model = Group
            fields: ClassVar = ["id", "name"]
            list_serializer_class = Bulk

    class View(generics.GenericAPIView):
        serializer_class = Many

        def put(self, request):
            serializer = self.get_serializer(Group.objects.all(), data=request.data, many=True)
            serializer.is_valid(raise_exception=True)
            serializer.save()
            return Response(serializer.data)

    body = described(View, "PUT").body
    assert body.kind == "list"
    assert "id" in body.schema["items"]["properties"]


# --- Views ----------------------------------------------------------------------------------------


class Steps:
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.tenant = request.data.get("tenant")

    def perform_create(self, serializer):
        serializer.save(tenant=self.request.data.get("tenant"))

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "tenant": self.request.data.get("tenant")}

    def get_queryset(self):
        return Group.objects.filter(name=self.request.data["tenant"])


@pytest.mark.parametrize("way", [n for n in vars(Steps) if not n.startswith("__")])
def test_a_step_around_the_handler_reads_a_member(way):
    mixin = type("Mixin", (), {way: vars(Steps)[way]})
    body = body_of(Plain, type("Base", (mixin, generics.CreateAPIView), {}))
    assert names_of(body) == {"name", "tenant"}
    assert not body.opened_by


def test_a_step_that_reads_the_body_whole():
    class View(generics.CreateAPIView):
        def initial(self, request, *args, **kwargs):
            self.sent = {**request.data}
            self.audit.keep(self.sent)
            super().initial(request, *args, **kwargs)

    assert body_of(Plain, View).opened_by


def test_a_step_that_keeps_the_body_whole():
    class View(generics.CreateAPIView):
        def initial(self, request, *args, **kwargs):
            super().initial(request, *args, **kwargs)
            self.sent = dict(request.data)

    assert body_of(Plain, View).opened_by


def test_a_handler_that_goes_through_all_members():
    class View(generics.CreateAPIView):
        def post(self, request):
            serializer = Plain(data=request.data)
            serializer.is_valid(raise_exception=True)
            return Response({name: len(value) for name, value in request.data.items()})

    assert body_of(Plain, View).opened_by


def test_a_branch_for_another_method_opens_nothing():
    class View(generics.GenericAPIView):
        serializer_class = Plain

        def put(self, request):
            if request.method == "PATCH":
                return self.audit(request.data)
            serializer = self.get_serializer(data=request.data)
            return Response(serializer.is_valid())

        patch = put

    assert not described(View, "PUT").body.opened_by
    assert described(View, "PATCH").body.opened_by


def fetch(token, request=None):
    return METHODS["send"](request or token)


def test_a_request_to_another_server_is_not_the_request():
    class View(generics.CreateAPIView):
        def perform_create(self, serializer):
            fetch(self.request.data["token"])

    body = body_of(Plain, View)
    assert names_of(body) == {"name", "token"}
    assert not body.opened_by


class Named(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.user.pk == request.data.get("project")


class Any(permissions.BasePermission):
    def has_permission(self, request, view):
        return check(**request.data)


def check(**kwargs):
    return bool(kwargs)


class Rate(throttling.SimpleRateThrottle):
    rate = "5/m"

    def get_cache_key(self, request, view):
        return request.data.get("project")


class NamedByView(permissions.BasePermission):
    def has_permission(self, request, view):
        return hasattr(view, "may_call") and getattr(view, "may_call")(request)  # noqa: B009


class Owners:
    def get_owners(self):
        return [(Order, "project"), (Group, "project")]

    def create(self, request, *args, **kwargs):
        find_owners(request.data, self.get_owners())
        return super().create(request, *args, **kwargs)


def find_owners(data, owners):
    return [kind.objects.get(pk=data.get(name)) for kind, name in owners]


@pytest.mark.parametrize(
    "members",
    [
        {"base": type("Base", (Owners, generics.CreateAPIView), {})},
        {"permission_classes": [Named, NamedByView]},
        {"permission_classes": [Named]},
        {"permission_classes": [permissions.IsAuthenticated & Named]},
        {"throttle_classes": [Rate]},
    ],
)
def test_a_permission_a_throttle_or_a_step_reads_a_member(members):
    body = body_of(**members)
    assert names_of(body) == {"name", "project"}
    assert not body.opened_by


def may_call(view, request):
    return check(**request.GET)


@pytest.mark.parametrize(("extra", "is_open"), [({}, False), ({"may_call": may_call}, True)])
def test_a_method_that_a_permission_asks_of_the_view_opens_the_query_where_it_is(extra, is_open):
    members = {"permission_classes": [NamedByView], "serializer_class": Plain, **extra}
    view = type("View", (generics.CreateAPIView,), members)
    assert bool(described(view, "POST").query_opened_by) is is_open


def test_a_permission_that_reads_the_body_whole():
    assert body_of(permission_classes=[permissions.IsAuthenticated | Any]).opened_by
