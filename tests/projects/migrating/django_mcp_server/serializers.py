from rest_framework import serializers

from .models import Bird, Location


class LocationSerializer(serializers.ModelSerializer):
    class Meta:
        model = Location
        fields = ["id", "name", "description"]


class BirdSerializer(serializers.ModelSerializer):
    class Meta:
        model = Bird
        fields = ["id", "location", "species", "count"]
