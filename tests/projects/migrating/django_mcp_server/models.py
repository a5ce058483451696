"""Counted birds and their locations."""

from django.db import models


class Location(models.Model):
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class Bird(models.Model):
    """How often birds of a species were seen."""

    location = models.ForeignKey(Location, models.CASCADE, null=True, related_name="birds")
    species = models.CharField(max_length=100)
    count = models.IntegerField(default=0)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.species


def make_rows(user) -> None:
    park = Location.objects.create(pk=1, name="Park")
    Bird.objects.create(pk=1, location=park, species="Robin", count=3)


# Calls of agents before the move: the tool and its arguments.
WRITES = [
    ("LocationCreateView_CreateTool", {"body": {"name": "Wood", "description": "Dark."}}),
    ("LocationView_UpdateTool", {"id": "1", "body": {"name": "Garden"}}),
    ("LocationView_DeleteTool", {"id": "1"}),
    ("increment_species", {"name": "Wren", "amount": 2}),
]
