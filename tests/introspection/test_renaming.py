"""Arguments have the keys that clients write, if a parser renames them."""

from __future__ import annotations

from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import generics, serializers
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from tests.introspection.inspected import by_name, described


class Step(serializers.Serializer):
    step_name = serializers.CharField()
    door_code = serializers.CharField(write_only=True)


class Recipe(serializers.Serializer):
    cook_minutes = serializers.IntegerField()
    all_steps = Step(many=True)
    plain = serializers.CharField(required=False)


class Recipes(generics.CreateAPIView):
    serializer_class = Recipe
    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]


class Shouting(JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render({name.upper(): data[name] for name in data})


class Broken(JSONParser):
    def parse(self, stream, media_type=None, parser_context=None):
        raise RuntimeError("on purpose")


def names(**attributes):
    """Return the argument names of `Recipes` with other parsers or renderers."""
    return list(by_name(described(type("View", (Recipes,), attributes), "POST").body.fields))


def test_arguments_have_the_keys_that_the_parser_reads():
    assert names() == ["cookMinutes", "allSteps", "plain"]


def test_nested_and_required_keys_are_renamed():
    items = by_name(described(Recipes, "POST").body.fields)["allSteps"].schema["items"]
    assert list(items["properties"]) == items["required"] == ["stepName", "doorCode"]


def test_secrets_are_found_under_the_renamed_keys():
    steps = by_name(described(Recipes, "POST").body.fields)["allSteps"]
    assert [place for place, info in steps.value_info.items() if info.is_secret] == [
        ("*", "doorCode")
    ]


def test_a_parser_that_does_not_rename_keeps_the_names():
    assert names(parser_classes=[JSONParser]) == ["cook_minutes", "all_steps", "plain"]


def test_the_output_schema_has_the_keys_of_the_renderer():
    properties = described(Recipes, "POST").output["properties"]
    assert list(properties) == ["cookMinutes", "allSteps", "plain"]
    assert list(properties["allSteps"]["items"]["properties"]) == ["stepName"]
