"""Sentences of the project's own validation in the descriptions of arguments."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from rest_framework import generics, serializers

from tests.introspection.inspected import by_name, described

OPEN = "Only open days can be booked."


def check_even(value):
    if value % 2:
        raise ValidationError("The number must be even.")


class Guest(serializers.Serializer):
    age = serializers.IntegerField()

    def validate_age(self, age):
        if age < 18:
            raise serializers.ValidationError("Guests must be adults.")
        return age


class Booking(serializers.Serializer):
    day = serializers.DateField(help_text="Day of arrival.")
    nights = serializers.IntegerField(validators=[check_even])
    room = serializers.CharField()
    name = serializers.CharField()
    guest = Guest()

    def validate_day(self, day):
        if day.year < 2000:
            raise serializers.ValidationError(_("The day must not be in the past."))
        if day.year > 3000:
            raise serializers.ValidationError(OPEN)
        return day

    def validate_name(self, name):
        if name == "x":
            raise serializers.ValidationError("Invalid name given.")
        if name == "y":
            raise serializers.ValidationError(f"The name must not be {name}.")
        if name == "z":
            raise serializers.ValidationError("Could not reach the only register of names.")
        return name

    def validate(self, attrs):
        if attrs["nights"] > 10:
            raise serializers.ValidationError({"room": ["Rooms cannot be booked that long."]})
        if attrs["nights"] > 20:
            raise serializers.ValidationError("Stays must be short.")
        return attrs


def words():
    view_class = type("V", (generics.CreateAPIView,), {"serializer_class": Booking})
    fields = by_name(described(view_class, "POST").body.fields)
    return {name: field.schema for name, field in fields.items()}


def test_the_rules_of_a_field_are_in_its_description():
    description = words()["day"]["description"]
    assert description == f"Day of arrival. The day must not be in the past. {OPEN}"


def test_the_rules_of_validators_and_of_the_whole_object_are_said_of_their_field():
    described_words = words()
    assert described_words["nights"]["description"] == "The number must be even."
    assert described_words["room"]["description"] == "Rooms cannot be booked that long."


def test_the_rules_of_a_nested_serializer_are_said_of_its_members():
    age = words()["guest"]["properties"]["age"]
    assert age["description"] == "Guests must be adults."


def test_an_error_that_says_no_rule_is_left_out():
    assert "description" not in words()["name"]
