"""The serializers of the library's API."""

from __future__ import annotations

from rest_framework import serializers

from example_project.library.models import Document


class QuestionSerializer(serializers.Serializer):
    """A question to the library."""

    question = serializers.CharField(
        max_length=2000, help_text="A question about Python, in plain words."
    )


class DocumentTitleSerializer(serializers.ModelSerializer):
    """A document on the shelf."""

    length = serializers.IntegerField(read_only=True, help_text="Characters of its text.")

    class Meta:
        model = Document
        fields = ["name", "title", "length"]


class DocumentSerializer(DocumentTitleSerializer):
    """A document with all of its text."""

    class Meta:
        model = Document
        fields = ["name", "title", "length", "text"]
