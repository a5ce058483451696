"""What no caller changes is described once; code that speaks of the user, for two callers."""

from __future__ import annotations

import pytest
from rest_framework import generics, serializers

from tests.introspection.inspected import described

MADE: list[str] = []


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


class ByUser(Parcel):
    def get_fields(self):
        return super().get_fields() if self.context["request"].user.is_staff else {}


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


@pytest.fixture(autouse=True)
def _nothing_made():
    MADE.clear()


def count_serializers(view_class, **attributes) -> int:
    MADE.clear()
    assert described(type("View", (view_class,), attributes), "POST").findings == ()
    return MADE.count("serializer")


def test_a_serializer_that_no_caller_changes_is_asked_once():
    """What the view reads of the query is the same for all callers it is described for."""
    once = count_serializers(Parcels)
    assert count_serializers(ParcelsOfUser) == 2 * once


def test_a_serializer_that_speaks_of_the_user_is_asked_for_a_superuser_as_well():
    once = count_serializers(Parcels)
    assert count_serializers(Parcels, serializer_class=ByUser) == 2 * once


def test_a_class_that_the_view_chooses_in_a_property_is_described_for_every_caller():
    assert {field.name for field in described(ParcelsByProperty, "POST").body.fields} == {
        "weight",
        "label",
        "note",
    }


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
