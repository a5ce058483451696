"""A serializer is described once for all endpoints, as far as all its instances are alike."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db.models.query import QuerySet
from rest_framework import generics, serializers, viewsets
from rest_framework.fields import CharField, empty

from drf_mcp.introspection.fields.shared import SharedDescription
from tests.introspection.inspected import described


class Counted(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "groups"]


class Users(viewsets.ModelViewSet):
    queryset = User.objects.all()
    serializer_class = Counted


class Choosy(Counted):
    def get_fields(self):
        return dict(list(super().get_fields().items())[: 2 if self.context else 3])


class First(Counted):
    def __init__(self, *args, most=2, **kwargs):
        self.most = most
        super().__init__(*args, **kwargs)

    def get_fields(self):
        return dict(list(super().get_fields().items())[: self.most])


class Own(CharField):
    def __init__(self, **kwargs):
        super().__init__(max_length=5, **kwargs)

    def to_representation(self, value):
        return value.upper()


class ByCaller(serializers.ChoiceField):
    @property
    def choices(self):
        return {"a": "A"} if self.context else {}

    @choices.setter
    def choices(self, choices):
        pass


class Visible(serializers.PrimaryKeyRelatedField):
    def get_queryset(self) -> QuerySet:
        return self.context["request"].user.groups.all()


@pytest.fixture
def made(monkeypatch):
    """The serializers whose fields were made, in order."""
    classes = []
    make = serializers.ModelSerializer.get_fields

    def get_fields(self):
        classes.append(type(self))
        return make(self)

    # Under a name of REST framework's own, as nothing else counts as stock.
    get_fields.__module__ = make.__module__
    monkeypatch.setattr(serializers.ModelSerializer, "get_fields", get_fields)
    return classes


ACTIONS = [
    ("GET", "list"),
    ("GET", "retrieve"),
    ("POST", "create"),
    ("PUT", "update"),
    ("PATCH", "partial_update"),
]


def test_a_viewset_makes_the_fields_once_for_each_thing_said(made, settings):
    settings.DRF_MCP = {}  # nothing is known yet
    for method, action in ACTIONS:
        described(Users, method, action)
    assert made.count(Counted) == len(["output", "input", "partial input"])


def test_what_is_shared_is_what_would_be_said_alone(settings):
    shared = [described(Users, method, action) for method, action in ACTIONS]
    for (method, action), schema in zip(ACTIONS, shared, strict=True):
        settings.DRF_MCP = {}
        assert described(Users, method, action) == schema


def test_a_partial_update_still_requires_nothing():
    create, update = described(Users, "POST", "create"), described(Users, "PATCH", "partial_update")
    assert [field.required for field in create.body.fields] != [
        field.required for field in update.body.fields
    ]


def test_changed_settings_are_followed(settings):
    class Prices(serializers.Serializer):
        price = serializers.DecimalField(max_digits=5, decimal_places=2)

    def output():
        view = generics.RetrieveAPIView
        return described(view, "GET", queryset=User.objects, serializer_class=Prices).output

    before = output()
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "COERCE_DECIMAL_TO_STRING": False}
    assert output() != before


def test_a_serializer_that_makes_its_fields_for_a_call_is_asked_every_time():
    described(
        generics.ListCreateAPIView, "POST", queryset=User.objects.all(), serializer_class=Choosy
    )
    assert not SharedDescription(Choosy()).is_kept


def test_what_a_serializer_is_made_with_tells_its_instances_apart(settings):
    """Where they are made by a view, each in its own way."""

    class Views(generics.CreateAPIView):
        queryset = User.objects.all()
        most = 2

        def get_serializer(self, *args, **kwargs):
            return First(*args, most=self.most, **kwargs)

    names = [
        [field.name for field in described(Views, "POST", most=most).body.fields]
        for most in (2, 3, 2)
    ]
    assert names == [["username"], ["username", "groups"], ["username"]]


@pytest.mark.parametrize(
    ("field", "alike"),
    [
        (serializers.CharField(), True),
        (Own(), True),
        (Counted(), True),
        (serializers.ListField(child=Own()), True),
        (ByCaller(choices=["a"]), False),
        (serializers.ListField(child=ByCaller(choices=["a"])), False),
        (Visible(), False),
        (Visible(many=True), False),
        (First(), True),
        (Choosy(), False),
        (Choosy(many=True), False),
        (Choosy(read_only=True, default=empty), False),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, bool) else str(value),
)
def test_instances_are_alike_as_far_as_every_field_inside_asks_nobody(field, alike):
    class Outer(serializers.Serializer):
        inner = field

    assert SharedDescription(Outer()).is_alike is alike
