"""Endpoints whose parser and renderer rename keys."""

from __future__ import annotations

from djangorestframework_camel_case.parser import CamelCaseJSONParser
from djangorestframework_camel_case.render import CamelCaseJSONRenderer
from rest_framework import serializers as s

from tests.introspection.nasty.views import Echo


class Step(s.Serializer):
    step_name = s.CharField()
    is_done = s.BooleanField(default=False)


class Recipe(s.Serializer):
    recipe_title = s.CharField()
    cook_minutes = s.IntegerField(min_value=1)
    all_steps = Step(many=True, required=False)
    secret_word = s.CharField(required=False, write_only=True)


class Camel(Echo):
    serializer_class = Recipe
    parser_classes = [CamelCaseJSONParser]
    renderer_classes = [CamelCaseJSONRenderer]
    http_method_names = ["post"]


class HalfCamel(Camel):
    """Renames keys in its answers only."""

    parser_classes = Echo.parser_classes
