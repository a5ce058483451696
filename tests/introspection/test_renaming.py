"""A parser that renames keys takes the view's own names as well."""

from __future__ import annotations

from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import generics, serializers

from tests.introspection.inspected import by_name, described


class Step(serializers.Serializer):
    step_name = serializers.CharField()


class Recipe(serializers.Serializer):
    cook_minutes = serializers.IntegerField()
    all_steps = Step(many=True)


class Recipes(generics.CreateAPIView):
    serializer_class = Recipe
    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]


def test_members_have_the_names_of_the_serializer():
    fields = by_name(described(Recipes, "POST").body.fields)
    assert list(fields) == ["cook_minutes", "all_steps"]
    assert list(fields["all_steps"].schema["items"]["properties"]) == ["step_name"]


def test_the_answer_of_a_renderer_that_renames_is_open():
    assert described(Recipes, "POST").output == {}
