from rest_framework.generics import (
    CreateAPIView,
    ListAPIView,
    RetrieveUpdateDestroyAPIView,
)
from rest_framework.permissions import IsAuthenticated

from .models import Location
from .serializers import LocationSerializer


class LocationListView(ListAPIView):
    """All places where birds are counted."""

    queryset = Location.objects.all()
    serializer_class = LocationSerializer
    permission_classes = [IsAuthenticated]


class LocationCreateView(CreateAPIView):
    """Add a place where birds are counted."""

    serializer_class = LocationSerializer
    permission_classes = [IsAuthenticated]


class LocationView(RetrieveUpdateDestroyAPIView):
    """One place where birds are counted."""

    queryset = Location.objects.all()
    serializer_class = LocationSerializer
    permission_classes = [IsAuthenticated]
