"""Overrides that change their argument first, and then hand it to REST framework's own code."""

from __future__ import annotations

import json

import pytest
from rest_framework import generics
from rest_framework import serializers as s

from tests.introspection.inspected import by_name, described

TEXT = {"type": "string", "minLength": 1}


class Unit(s.Serializer):
    name = s.CharField()
    plural = s.CharField(required=False)


class ByKey(s.Serializer):
    """Takes the key of a unit in place of the unit, as many projects let nested serializers do."""

    def to_internal_value(self, data):
        """Return the values, with units looked up."""
        for name in list(data):
            if name not in self.fields:
                continue
            elif issubclass(self.fields[name].__class__, s.Serializer):
                if isinstance(data[name], int):
                    found = self.fields[name].Meta.model.objects.get(id=data[name])
                    data[name] = {"name": found.name}
            elif isinstance(self.fields[name], s.ListSerializer):  # noqa: SIM102
                if any(isinstance(each, int) for each in data[name]):
                    data[name] = [each for each in data[name] if not isinstance(each, int)]
        return super().to_internal_value(data)


class Food(ByKey):
    name = s.CharField()
    unit = Unit()
    others = Unit(many=True, required=False)


class Step(ByKey):
    foods = Food(many=True)


def fields_of(serializer_class, method="POST"):
    view = type("View", (generics.CreateAPIView,), {"serializer_class": serializer_class})
    return by_name(described(view, method, portable=False).body.fields)


def test_a_member_that_the_override_leaves_as_it_is_is_described_and_required():
    name = fields_of(Food)["name"]
    assert (name.schema, name.required) == (TEXT, True)


def test_a_member_that_is_converted_from_one_type_takes_that_type_too():
    unit = fields_of(Food)["unit"]
    assert unit.schema["type"] == "object"
    assert unit.schema["description"].endswith("May be an integer instead.")
    assert unit.required


def test_an_object_that_has_a_short_form_lists_what_it_needs_and_names_the_rest():
    unit = fields_of(Food)["unit"].schema
    assert unit["properties"] == {"name": TEXT}
    assert unit["required"] == ["name"]
    assert unit["description"] == "Further members: plural. May be an integer instead."


def test_items_that_are_converted_from_one_type_take_that_type_too():
    others = fields_of(Food)["others"]
    assert others.schema["type"] == "array"
    assert others.schema["items"]["type"] == "object"
    assert others.schema["items"]["description"].endswith("May be an integer instead.")
    assert not others.required


def test_nested_serializers_are_read_in_the_same_way():
    item = fields_of(Step)["foods"].schema["items"]
    assert item["description"].endswith("May be an integer instead.")
    assert item["properties"]["unit"]["description"].endswith("May be an integer instead.")
    assert item["required"] == ["name", "unit"]


def test_null_stays_beside_another_type():
    class Own(ByKey):
        unit = Unit(allow_null=True)

    unit = fields_of(Own)["unit"].schema
    assert unit["description"].endswith("May be an integer instead. May be null.")


def make(convert, **members):
    """Return a serializer with fields and this way to prepare its input."""
    return type("Own", (convert, s.Serializer), members)


class Prefixed:
    def to_internal_value(self, data):
        url = data.get("url", "")
        if url and not url.startswith("http"):
            data["url"] = "http://" + url
        return super().to_internal_value(data)


def test_a_member_that_is_written_by_name_may_take_anything_and_may_be_left_out():
    fields = fields_of(make(Prefixed, url=s.URLField(), title=s.CharField()))
    assert "type" not in fields["url"].schema
    words = fields["url"].schema["description"]
    assert words.startswith("Meant to be a ")
    assert words.endswith("Meant to be required.")
    assert not fields["url"].required
    assert (fields["title"].schema, fields["title"].required) == (TEXT, True)


class Decoded:
    def to_internal_value(self, data):
        data = data.copy()
        if isinstance(data.get("place"), str):
            data["place"] = json.loads(data["place"])
        return super().to_internal_value(data)


def test_a_member_written_where_it_has_a_type_takes_that_type_too_and_stays_required():
    place = fields_of(make(Decoded, place=Unit()))["place"]
    assert place.schema["description"].endswith("May be a string instead.")
    assert place.required


class Removed:
    def run_validation(self, data=s.empty):
        if data.get("done", False):
            del data["left"]
        data.setdefault("note", "")
        return super().run_validation(data)


def test_members_that_are_removed_or_given_a_default_may_be_left_out():
    fields = fields_of(
        make(Removed, done=s.BooleanField(), left=s.IntegerField(), note=s.CharField())
    )
    assert {name: field.required for name, field in fields.items()} == {
        "done": True,
        "left": False,
        "note": False,
    }
    assert fields["done"].schema == {"type": "boolean"}


class Filling:
    def to_internal_value(self, data):
        rows = data.get("rows", [])
        for row in rows:
            row.setdefault("name", "")
        return super().to_internal_value(data)


def test_members_whose_contents_may_be_changed_are_open():
    fields = fields_of(make(Filling, rows=Unit(many=True), name=s.CharField()))
    assert "type" not in fields["rows"].schema
    assert fields["name"].required


class ByLoop:
    def to_internal_value(self, data):
        for name in data:
            data[name] = str(data[name])
        return super().to_internal_value(data)


def test_members_that_a_loop_converts_take_anything_but_none_is_added():
    count = fields_of(make(ByLoop, count=s.IntegerField()))["count"]
    assert "type" not in count.schema
    assert count.required


def test_an_enumeration_that_takes_another_type_too_is_open():
    class Own(Decoded, s.Serializer):
        place = s.ChoiceField(["a", "b"])

    own = fields_of(Own)["place"]
    assert "enum" not in own.schema or own.schema["type"] == "string"


def test_a_partial_update_requires_nothing():
    view = type("View", (generics.UpdateAPIView,), {"serializer_class": Food})
    fields = by_name(described(view, "PATCH", portable=False).body.fields)
    assert not any(field.required for field in fields.values())


def test_a_preparation_that_is_followed_is_no_finding():
    view = type("View", (generics.CreateAPIView,), {"serializer_class": Food})
    assert described(view, "POST").findings == ()


class Refusing:
    def to_internal_value(self, data):
        if not isinstance(data, dict):
            raise s.ValidationError(f"No object: {data}")
        names = set(data) - set(self.fields)
        if names:
            raise s.ValidationError(dict.fromkeys(names, "Unknown."))
        return super().to_internal_value(data)


def test_a_preparation_that_only_refuses_leaves_everything_as_it_is():
    name = fields_of(make(Refusing, name=s.CharField()))["name"]
    assert (name.schema, name.required) == (TEXT, True)


@pytest.mark.parametrize(
    ("sent", "accepted"),
    [
        ({"name": "a", "unit": {"name": "b"}}, True),
        ({"name": "a", "unit": {"name": "b"}, "others": [1, {"name": "c"}]}, True),
        ({"unit": {"name": "b"}}, False),
        ({"name": "a"}, False),
        ({"name": "a", "unit": {}}, False),
        ({"name": 1, "unit": {"name": "b"}, "others": ["c"]}, False),
    ],
)
def test_the_description_is_true_of_the_serializer(sent, accepted):
    assert Food(data=sent).is_valid() is accepted


def change(data):
    data["name"] = "a"


class HandedOn:
    def to_internal_value(self, data):
        change(data)
        return super().to_internal_value(data)


class Renamed:
    def to_internal_value(self, data):
        other = data
        other["name"] = "a"
        return super().to_internal_value(data)


class Updated:
    def to_internal_value(self, data):
        data.update(name="a")
        return super().to_internal_value(data)


class Returned:
    def to_internal_value(self, data):
        if "name" not in data:
            return {"name": "a"}
        return super().to_internal_value(data)


class Optional:
    def to_internal_value(self, data):
        self.fields["name"].required = False
        return super().to_internal_value(data)


class OptionalByName:
    def to_internal_value(self, data):
        setattr(self.fields["name"], "required", False)  # noqa: B010
        return super().to_internal_value(data)


class OptionalByVariable:
    def to_internal_value(self, data):
        field = self.fields["name"]
        relax(field)
        return super().to_internal_value(data)


class Dropped:
    def to_internal_value(self, data):
        self.fields.pop("name")
        return super().to_internal_value(data)


class OwnMethod:
    def to_internal_value(self, data):
        self.prepare()
        return super().to_internal_value(data)

    def prepare(self):
        self.fields["name"].required = False


class Computed:
    def to_internal_value(self, data):
        data[self.context["name"]] = "a"
        return super().to_internal_value(data)


class Replaced:
    def to_internal_value(self, data):
        data = {"name": "a"}
        return super().to_internal_value(data)


class Conditional:
    def to_internal_value(self, data):
        if data:
            return super().to_internal_value(data)


class Tried:
    def to_internal_value(self, data):
        data["url"] = ""
        try:
            return super().to_internal_value(data)
        except s.ValidationError:
            return data


class Reused:
    def to_internal_value(self, data):
        for name in data:
            data[name] = ""
        name = "name"
        data[name] = "a"
        return super().to_internal_value(data)


class Initial:
    def to_internal_value(self, data):
        initial = self.initial_data
        initial["name"] = "a"
        return super().to_internal_value(data)


class OfRequest:
    def to_internal_value(self, data):
        request = self.context["request"]
        request.data["name"] = "a"
        return super().to_internal_value(data)


class OfRequestByMethod:
    def to_internal_value(self, data):
        request = self.context["request"]
        request.data.setdefault("name", "a")
        return super().to_internal_value(data)


class Writable:
    def to_internal_value(self, data):
        for field in self._writable_fields:
            relax(field)
        return super().to_internal_value(data)


def relax(field):
    field.required = False


UNFOLLOWED = [
    HandedOn,
    Renamed,
    Updated,
    Returned,
    Optional,
    OptionalByName,
    OptionalByVariable,
    Dropped,
    OwnMethod,
    Computed,
    Replaced,
    Conditional,
    Tried,
    Reused,
    Initial,
    OfRequest,
    OfRequestByMethod,
    Writable,
]


@pytest.mark.parametrize("convert", UNFOLLOWED, ids=lambda convert: convert.__name__)
def test_a_preparation_that_cannot_be_followed_requires_nothing(convert):
    name = fields_of(make(convert, name=s.CharField()))["name"]
    assert not name.required
    assert "type" not in name.schema
