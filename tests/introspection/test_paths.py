"""Schemas of path arguments."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import models
from django.urls import converters
from rest_framework import serializers, versioning, views, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from drf_mcp.describers import PathKwarg
from tests.introspection.inspected import bare, described

TEXT = {"type": "string"}
KEY = {"type": "integer"}


class Parcel(models.Model):
    """A model whose primary key is a UUID."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    sender = models.ForeignKey(User, models.DO_NOTHING, related_name="+")

    class Meta:
        app_label = "tests"
        managed = False

    def __str__(self) -> str:
        return str(self.id)


class Users(viewsets.ModelViewSet):
    """Users by primary key."""

    queryset = User.objects.all()
    serializer_class = serializers.Serializer

    @action(detail=True)
    def groups(self, request, pk):
        return Response([])


class Year(converters.StringConverter):
    """A project's own converter."""

    regex = "[0-9]{4}"


def kwarg(view, name, converter=None, pattern=None, action="retrieve", **options):
    """Return the schema of one path argument of a view."""
    given = (PathKwarg(name, converter, pattern),)
    if not issubclass(view, viewsets.ViewSetMixin):
        return described(view, "GET", None, given, **options).path[0].schema
    return described(view, None, action, given, **options).path[0].schema


def test_the_converter_or_pattern_decides_the_schema(subtests):
    for converter, pattern, expected in [
        (converters.IntConverter(), None, {"type": "integer", "minimum": 0}),
        (
            converters.UUIDConverter(),
            None,
            TEXT,
        ),
        (converters.SlugConverter(), None, {**TEXT, "pattern": "^[-a-zA-Z0-9_]+$"}),
        (converters.StringConverter(), None, TEXT),
        (converters.PathConverter(), None, TEXT),
        (Year(), None, {**TEXT, "pattern": "^(?:[0-9]{4})$"}),
        (None, r"\d+", {"type": "integer", "minimum": 0}),
        (None, "[0-9]+", {"type": "integer", "minimum": 0}),
        (None, r"\d{5}", {**TEXT, "pattern": r"^(?:\d{5})$"}),
        (None, "[a-f0-9]{32}", {**TEXT, "pattern": "^(?:[a-f0-9]{32})$"}),
        (None, r"\w+", TEXT),
        (None, "[^/.]+", TEXT),
        (None, None, TEXT),
    ]:
        with subtests.test(converter=converter, pattern=pattern, expected=expected):
            assert bare(kwarg(views.APIView, "thing", converter, pattern)) == expected


def test_a_lookup_has_the_type_of_its_model_field(subtests):
    for attributes, name, expected in [
        ({}, "pk", KEY),
        ({"lookup_url_kwarg": "user_pk"}, "user_pk", KEY),
        ({"lookup_url_kwarg": "user"}, "user", {**KEY, "description": "Primary key of the user."}),
        ({"lookup_field": "username"}, "username", TEXT),
        ({"lookup_field": "date_joined"}, "date_joined", {**TEXT, "format": "date-time"}),
        ({"lookup_field": "annotated"}, "annotated", TEXT),
        (
            {"queryset": Parcel.objects.all()},
            "pk",
            {**TEXT, "description": "UUID."},
        ),
        (
            {"queryset": None, "get_queryset": lambda self: Parcel.objects.all()},
            "pk",
            {**TEXT, "description": "UUID."},
        ),
    ]:
        with subtests.test(attributes=attributes, name=name, expected=expected):
            schema = kwarg(type("Own", (Users,), attributes), name)
            # Help texts of Django's user model are not compared.
            assert (bare(schema) if "lookup_field" in attributes else schema) == expected


def test_the_key_of_a_parent_has_the_type_of_the_foreign_key(subtests):
    for name, expected in [
        ("sender_pk", {**KEY, "description": "Primary key of the user."}),
        ("sender_id", {**KEY, "description": "Primary key of the user."}),
        ("parent_lookup_sender", {**KEY, "description": "Primary key of the user."}),
        ("parent_lookup_sender__username", TEXT),
        ("warehouse_pk", TEXT),
        ("sender", TEXT),
    ]:
        with subtests.test(name=name, expected=expected):
            schema = kwarg(
                type("Own", (Users,), {"queryset": Parcel.objects.all()}), name, action="list"
            )
            assert (schema if "description" in expected else bare(schema)) == expected


def test_pk_in_a_list_route_is_not_the_key_of_the_model():
    assert kwarg(Users, "pk", action="list") == TEXT
    assert kwarg(Users, "pk", action="create") == TEXT


class Locked(Users):
    """Changes the object after the inherited lookup."""

    def get_object(self):
        user = super().get_object()
        user.seen = True
        return user


def test_a_queryset_that_needs_a_caller_leaves_the_type_open():
    class Own(Users):
        queryset = None

        def get_queryset(self):
            return self.request.user.tenant.users

    schema = described(Own, None, "retrieve", (PathKwarg("pk"),))
    assert schema.path[0].schema == TEXT
    assert "tenant" in schema.findings[0].message
    assert "swagger_fake_view" in schema.findings[0].remedy


def test_a_version_in_the_path_is_one_of_the_allowed_versions(subtests):
    for base in [versioning.URLPathVersioning, versioning.NamespaceVersioning]:
        with subtests.test(base=base):
            own = type("Own", (base,), {"allowed_versions": ["v1"], "default_version": "v2"})
            view = type("Versioned", (views.APIView,), {"versioning_class": own})
            schema = kwarg(view, "version", pattern="[^/]+")
            assert bare(schema) == {"type": "string", "enum": ["v1", "v2"], "default": "v2"}


def test_path_arguments_are_required_and_in_order():
    given = (PathKwarg("version"), PathKwarg("pk"))
    path = described(Users, None, "retrieve", given).path
    assert [(parameter.name, parameter.required) for parameter in path] == [
        ("version", True),
        ("pk", True),
    ]
