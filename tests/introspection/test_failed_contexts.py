"""A finding says why the context of serializers failed, and where."""

from __future__ import annotations

from django.urls import path
from rest_framework import generics, serializers

from drf_mcp.exposure import registry


class Shelved(serializers.Serializer):
    title = serializers.CharField()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["title"].required = self.context["shelf"].is_open


class Shelves(generics.CreateAPIView):
    serializer_class = Shelved

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "shelf": self.request.shelf}


class Renamed(generics.CreateAPIView):
    serializer_class = Shelved

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "shelves": 1}


def find(expose, view):
    expose(path("shelves/", view.as_view()))
    (tool,) = registry.tools().values()
    return tool.schema.findings


def test_the_failure_of_the_context_is_named_and_not_the_key_that_is_missing(expose):
    findings = find(expose, Shelves)
    assert findings
    for finding in findings:
        assert "AttributeError" in finding.message
        assert "has no attribute 'shelf'" in finding.message
        assert "in get_serializer_context" in finding.message
        assert finding.source.startswith("tests/introspection/test_failed_contexts.py")


def test_a_key_that_a_working_context_lacks_is_named(expose):
    findings = find(expose, Renamed)
    assert findings
    assert all("KeyError: 'shelf'" in finding.message for finding in findings)


class Optional(Shelved):
    def __init__(self, *args, **kwargs):
        try:
            super().__init__(*args, **kwargs)
        except KeyError:
            self.fields["title"].required = False


class Optionals(Shelves):
    serializer_class = Optional


def test_a_serializer_that_does_without_the_key_is_described(expose):
    expose(path("shelves/", Optionals.as_view()))
    (tool,) = registry.tools().values()
    assert not tool.schema.findings
    assert [*tool.input_schema["properties"]] == ["title"]
