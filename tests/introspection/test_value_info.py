"""Facts about values that a schema does not have: files, forms, secrets, relations."""

from __future__ import annotations

from functools import partial

from django.contrib.auth.models import User
from django.core.validators import FileExtensionValidator
from rest_framework import generics, serializers

from drf_mcp.introspection.names import sounds_secret
from drf_mcp.introspection.types import Upload, ValueInfo, find_uploads, read_value_info
from drf_mcp.introspection.value_info import find_value_info
from tests.introspection.inspected import by_name, described


class Login(serializers.Serializer):
    password = serializers.CharField(write_only=True)
    pin = serializers.CharField(style={"input_type": "password"})


class Account(serializers.Serializer):
    name = serializers.CharField()
    login = Login()
    logins = Login(many=True)
    photo = serializers.ImageField()
    papers = serializers.ListField(
        child=serializers.FileField(validators=[FileExtensionValidator(["PDF"])])
    )
    data = serializers.JSONField()
    age = serializers.IntegerField(allow_null=True)
    owner = serializers.PrimaryKeyRelatedField(queryset=User.objects.all())
    friends = serializers.SlugRelatedField("username", queryset=User.objects.all(), many=True)


class OwnFile(serializers.FileField):
    def to_internal_value(self, data):
        return data


def info(name, takes_json=True):
    return find_value_info(Account().fields[name], takes_json=takes_json)


def secrets(value_info):
    return {place for place, info in value_info.items() if info.is_secret}


def forms(value_info):
    return {place: info.form for place, info in value_info.items() if info.form}


def relations(value_info):
    return {place: info.relation for place, info in value_info.items() if info.relation}


def test_write_only_fields_are_secrets_at_every_depth():
    assert secrets(info("login")) == {("password",), ("pin",)}
    assert secrets(info("logins")) == {("*", "password"), ("*", "pin")}


def test_a_body_field_knows_whether_it_is_write_only():
    view = type("View", (generics.CreateAPIView,), {"serializer_class": Login})
    fields = by_name(described(view, "POST").body.fields)
    assert fields["password"].write_only
    assert not by_name(
        described(
            type("V", (generics.CreateAPIView,), {"serializer_class": Account}), "POST"
        ).body.fields
    )["name"].write_only


def test_a_file_field_that_overrides_the_conversion_gets_text_if_the_view_takes_json():
    field = OwnFile()
    assert find_uploads(find_value_info(field, takes_json=True)) == {}
    assert find_uploads(find_value_info(field, takes_json=False)) == {(): Upload()}


def test_files_and_secrets_are_found_in_a_schema():
    schema = {
        "type": "object",
        "properties": {
            "scan": {"type": "string", "format": "binary"},
            "codes": {"type": "array", "items": {"type": "string", "writeOnly": True}},
        },
    }
    value_info = read_value_info(schema)
    assert value_info == {
        (): ValueInfo(form="parts"),
        ("scan",): ValueInfo(Upload()),
        ("codes",): ValueInfo(form="parts"),
        ("codes", "*"): ValueInfo(is_secret=True),
    }


class Pictures(FileExtensionValidator):
    def __init__(self):
        super().__init__(["png"])


class Lenient(Pictures):
    """Overrides the validation."""

    def __call__(self, value):
        pass


class Other(serializers.Field):
    """Reads and writes values in its own way."""


class Address(serializers.Serializer):
    street = serializers.CharField()
    number = serializers.IntegerField()


class OwnAddress(Address):
    def to_internal_value(self, data):
        return data


USERS = User.objects.all()
SECRET = {
    "text": serializers.CharField,
    "email": serializers.EmailField,
    "uuid": serializers.UUIDField,
    "json": serializers.JSONField,
    "own": Other,
    "own object": OwnAddress,
    "slug of a secret": lambda **k: serializers.SlugRelatedField("auth_token", queryset=USERS, **k),
}


def written_only(make):
    holder = type("Holder", (serializers.Serializer,), {"member": make(write_only=True)})
    return find_value_info(holder().fields["member"], takes_json=True)


def test_in_a_write_only_list_or_dict_the_texts_are_secrets():
    kinds = (serializers.ListField, serializers.DictField)
    made = [*kinds, *(partial(kind, child=serializers.CharField()) for kind in kinds)]
    assert [secrets(written_only(make)) for make in made] == [{("*",)}] * 4


def test_write_only_in_a_declared_schema_means_the_same(subtests):
    for schema, places in [
        ({"type": "integer", "writeOnly": True}, set()),
        ({"type": "string", "writeOnly": True}, {()}),
        ({"writeOnly": True}, {()}),
        ({"type": "string", "enum": ["a"], "writeOnly": True}, set()),
        ({"type": "string", "format": "date-time", "writeOnly": True}, set()),
        ({"type": "string", "format": "password"}, {()}),
        ({"type": "object", "writeOnly": True}, {()}),
        ({"type": "array", "items": {"type": "integer"}, "writeOnly": True}, set()),
        ({"type": "array", "items": {"type": "string"}, "writeOnly": True}, {("*",)}),
        (
            {
                "type": "object",
                "writeOnly": True,
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            },
            {("a",)},
        ),
    ]:
        with subtests.test(schema=schema, secrets=places):
            assert secrets(read_value_info(schema)) == places


SECRET_NAMES = ["password", "passcode", "pin", "pin_code", "my_pin", "otp", "otp_code", "apiKey"]


def test_a_name_sounds_like_a_secret(subtests):
    for name in [*SECRET_NAMES, "private_key", "security_code", "accessToken"]:
        with subtests.test(name=name):
            assert sounds_secret(name)


def test_a_name_that_only_contains_a_word_for_secrets_does_not(subtests):
    for name in ["pinned", "opinion", "shipping", "product_code", "key", "passed"]:
        with subtests.test(name=name):
            assert not sounds_secret(name)
