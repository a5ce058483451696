"""The serializers of the library's API."""

from __future__ import annotations

from rest_framework import serializers

from example_project.library.models import Document


class QuestionSerializer(serializers.Serializer):
    """A question to the library."""

    question = serializers.CharField(
        max_length=2000, help_text="A question about Python, in plain words."
    )


class HealthSerializer(serializers.Serializer):
    """That the library can answer, and since when the report is true."""

    status = serializers.CharField()
    timestamp = serializers.DateTimeField()


class StatisticsSerializer(serializers.Serializer):
    """The stored answers in numbers."""

    total_keys = serializers.IntegerField()
    hit_rate = serializers.FloatField()
    memory_usage = serializers.CharField()


class CacheStatsSerializer(serializers.Serializer):
    """The statistics of the cache of answers."""

    cache_stats = StatisticsSerializer()


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
