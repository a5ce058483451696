"""Journeys: a model with a column of every kind, behind a list with every kind of field."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import django_filters
from django.db import models
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import filters, pagination, permissions, serializers, viewsets

from drf_mcp import mcp_viewset

FIRST = datetime(2025, 12, 28, 22, 30, tzinfo=UTC)
FIELDS = (
    *("kind", "stars", "is_return", "day", "left_at", "price", "distance", "passengers"),
    *("duration", "code", "owner", "station", "station_name", "country", "address"),
)


class Station(models.Model):
    """Where journeys begin."""

    name = models.CharField(max_length=20, unique=True)
    country = models.CharField(max_length=2)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return self.name


class Journey(models.Model):
    """A journey of a user; most columns may be null."""

    owner = models.CharField(max_length=20)
    kind = models.CharField(max_length=5, choices=[("train", "By train"), ("ship", "By ship")])
    stars = models.IntegerField(null=True, choices=[(1, "Bad"), (2, "Fair"), (3, "Good")])
    is_return = models.BooleanField(null=True)
    day = models.DateField(null=True)
    left_at = models.DateTimeField(null=True)
    price = models.DecimalField(max_digits=7, decimal_places=3, null=True)
    distance = models.FloatField(null=True)
    passengers = models.IntegerField(null=True)
    duration = models.DurationField(null=True)
    code = models.UUIDField(default=uuid.uuid4)
    address = models.GenericIPAddressField(null=True)
    station = models.ForeignKey(Station, models.CASCADE, null=True, related_name="journeys")

    class Meta:
        app_label = "tests"
        ordering = ["-left_at", "pk"]

    def __str__(self) -> str:
        return str(self.code)


class JourneySerializer(serializers.ModelSerializer):
    station_name = serializers.SlugRelatedField(source="station", slug_field="name", read_only=True)
    country = serializers.CharField(source="station.country", read_only=True, allow_null=True)

    class Meta:
        model = Journey
        fields = ["id", *FIELDS]


class JourneyFilter(django_filters.FilterSet):
    passengers = django_filters.RangeFilter()

    class Meta:
        model = Journey
        fields = ["kind", "is_return", "station__country"]


class Pages(pagination.PageNumberPagination):
    page_size = 15


@mcp_viewset(aggregate=FIELDS)
class JourneyViewSet(viewsets.ModelViewSet):
    """Journeys of the caller; staff see all of them."""

    queryset = Journey.objects.select_related("station")
    serializer_class = JourneySerializer
    permission_classes = [permissions.IsAuthenticated]
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend, filters.SearchFilter, filters.OrderingFilter]
    filterset_class = JourneyFilter
    search_fields = ["station__name", "owner"]
    ordering_fields = ["price", "day"]

    def get_queryset(self):
        user = self.request.user
        journeys = super().get_queryset()
        return journeys if user.is_staff else journeys.filter(owner=user.username)


def make_journeys(count: int) -> None:
    """Store the same journeys each time; about one value in seven is null."""
    chance = random.Random(count)
    stations = Station.objects.bulk_create(
        Station(name=name, country=country)
        for name, country in (("Bern", "CH"), ("Chur", "CH"), ("Ulm", "DE"), ("Pisa", "IT"))
    )

    def maybe(value):
        return None if chance.random() < 0.15 else value

    Journey.objects.bulk_create(
        Journey(
            owner=chance.choice(["alice", "bob", "carol"]),
            kind=chance.choice(["train", "ship"]),
            stars=maybe(chance.randint(1, 3)),
            is_return=maybe(chance.random() < 0.5),
            day=maybe(date(2025, 12, 20) + timedelta(days=chance.randint(0, 400))),
            left_at=maybe(FIRST + timedelta(minutes=30 * chance.randint(0, 20000))),
            price=maybe(Decimal(chance.randint(-9_999, 9_999_999)).scaleb(-3)),
            distance=maybe(chance.randint(0, 4000) / 4),
            passengers=maybe(chance.randint(1, 5)),
            duration=maybe(timedelta(minutes=chance.randint(1, 3000))),
            code=uuid.UUID(int=chance.randint(1, 6)),
            address=maybe(f"10.0.0.{chance.randint(1, 3)}"),
            station=maybe(chance.choice(stations)),
        )
        for _ in range(count)
    )
