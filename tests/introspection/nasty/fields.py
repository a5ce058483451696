"""Serializers with every kind of field, and with fields of the project's own."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from rest_framework import serializers as s


class Upper(s.CharField):
    """Reads what a CharField reads, and writes it in capitals."""

    def to_representation(self, value):
        return str(value).upper()


class Colour(s.Field):
    """Takes ``#rrggbb`` or a list of three numbers."""

    def to_internal_value(self, data):
        if isinstance(data, list) and len(data) == 3:
            return "#" + bytes(data).hex()
        if not isinstance(data, str) or not data.startswith("#"):
            raise s.ValidationError("No colour.")
        return data

    def to_representation(self, value):
        return {"hex": value}


class Hostile(s.Field):
    """Raises when its help text is read."""

    @property
    def help_text(self):
        raise RuntimeError("no help")

    @help_text.setter
    def help_text(self, value):
        pass

    def to_internal_value(self, data):
        return data

    def to_representation(self, value):
        return value


class Now:
    """A default that requires the context of its serializer."""

    requires_context = True

    def __call__(self, field):
        return field.context["request"].method


class Scalars(s.Serializer):
    yes = s.BooleanField(required=False)
    perhaps = s.BooleanField(allow_null=True, required=False)
    word = s.CharField(max_length=5, allow_blank=True, required=False)
    mail = s.EmailField(required=False)
    code = s.RegexField(r"^[A-Z]{2}\d+$", required=False)
    named = s.RegexField(r"^(?P<year>\d{4})-\w+\Z", required=False)
    slug = s.SlugField(required=False)
    link = s.URLField(required=False)
    key = s.UUIDField(required=False)
    address = s.IPAddressField(required=False)
    number = s.IntegerField(min_value=-3, max_value=3, required=False)
    big = getattr(s, "BigIntegerField", s.IntegerField)(required=False)
    ratio = s.FloatField(min_value=0, required=False)
    price = s.DecimalField(max_digits=6, decimal_places=2, required=False)
    moment = s.DateTimeField(required=False)
    day = s.DateField(required=False, input_formats=["%d.%m.%Y", "iso-8601"])
    hour = s.TimeField(required=False)
    length = s.DurationField(required=False)


class Choices(s.Serializer):
    size = s.ChoiceField([("s", "Small"), ("l", "Large")], required=False, allow_blank=True)
    level = s.ChoiceField([(1, "Low"), (2, "High")], required=False)
    mixed = s.ChoiceField([1, "a", None], required=False, allow_null=True)
    grouped = s.ChoiceField([("Fruit", [("a", "Apple")]), ("n", "Nut")], required=False)
    days = s.MultipleChoiceField(choices=["mon", "tue", "wed"], required=False)
    none = s.ChoiceField([], required=False, allow_blank=True)


class Composites(s.Serializer):
    tags = s.ListField(child=s.CharField(max_length=4), max_length=3, required=False)
    matrix = s.ListField(child=s.ListField(child=s.IntegerField()), required=False)
    scores = s.DictField(child=s.IntegerField(allow_null=True), required=False)
    pairs = s.HStoreField(required=False)
    anything = s.JSONField(required=False, allow_null=True)
    binary = s.JSONField(binary=True, required=False)
    free = s.ListField(required=False)


class Odd(s.Serializer):
    colour = Colour(required=False)
    loud = Upper(required=False)
    hostile = Hostile(required=False)
    method = s.HiddenField(default=Now())
    read = s.ReadOnlyField(default="r")
    said = s.SerializerMethodField()

    def get_said(self, row) -> int:
        return f"{row.get('loud')}!"  # no integer, in spite of the annotation


class Line(s.Serializer):
    product = s.CharField()
    quantity = s.IntegerField(min_value=1, default=1)
    options = s.ListField(child=s.CharField(), required=False)


class Address(s.Serializer):
    street = s.CharField()
    country = s.ChoiceField(["DE", "FR"], default="DE")


class Order(s.Serializer):
    reference = s.CharField(source="ref.text")
    lines = Line(many=True, min_length=1)
    address = Address(required=False, allow_null=True)


class Node(s.Serializer):
    """Contains itself."""

    name = s.CharField()

    def get_fields(self):
        return {**super().get_fields(), "children": Node(many=True, required=False)}


class Renamed(s.Serializer):
    """Fields whose names cannot be names of arguments."""

    def get_fields(self):
        names = ["lid-colour", "page[size]", "1st", "größe", "a.b", "x" * 80]
        return {name: s.CharField(required=False) for name in names}


class Reserved(s.Serializer):
    """Fields with names that other arguments have."""

    pk = s.CharField()
    query = s.CharField(required=False)
    body = s.CharField(required=False)
    format = s.CharField(required=False)
    page = s.IntegerField(required=False)
    self = s.CharField(required=False)


class People(s.Serializer):
    """Fields for every kind of relation."""

    owner = s.PrimaryKeyRelatedField(queryset=User.objects.all(), required=False, allow_null=True)
    by_name = s.SlugRelatedField("username", queryset=User.objects.all(), required=False)
    groups = s.PrimaryKeyRelatedField(queryset=Group.objects.all(), many=True, required=False)
    label = s.StringRelatedField(source="owner")
    keyed = s.PrimaryKeyRelatedField(
        queryset=Group.objects.all(), pk_field=s.IntegerField(), required=False
    )


class GroupModel(s.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


class Account(s.Serializer):
    """Secrets, one of them nested."""

    user = s.CharField()
    password = s.CharField(write_only=True, min_length=4)
    profile = s.DictField(child=s.CharField(), required=False, write_only=True)


class Stripped(s.Serializer):
    """Reads a key that no field declares."""

    name = s.CharField()

    def to_internal_value(self, data):
        return super().to_internal_value({"name": data.get("title", data.get("name"))})


class Shapeless(s.Serializer):
    """Reads any value, and writes an object of another form."""

    name = s.CharField(required=False)

    def to_internal_value(self, data):
        return {"name": str(data)}

    def to_representation(self, instance):
        return {"shape": instance["name"]}


class Dropping(s.Serializer):
    """Writes fewer fields than it has, and other members."""

    kept = s.IntegerField(required=False, allow_null=True)
    dropped = s.CharField(required=False)

    def to_representation(self, instance):
        shown = super().to_representation(instance)
        shown.pop("dropped", None)
        return {**shown, "kept": str(shown.get("kept")), "more": [1]}
