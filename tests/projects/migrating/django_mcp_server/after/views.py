from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from drf_mcp import mcp_tool

from ..models import Bird
from ..serializers import BirdSerializer


class IncrementSerializer(serializers.Serializer):
    name = serializers.CharField()
    amount = serializers.IntegerField(default=1)


class BirdViewSet(ListModelMixin, GenericViewSet):
    """How often birds of a species were seen."""

    queryset = Bird.objects.filter(location__isnull=False)
    serializer_class = BirdSerializer
    permission_classes = [IsAuthenticated]
    filter_backends = [SearchFilter, OrderingFilter]
    search_fields = ["species", "location__name"]
    ordering_fields = ["species", "count"]

    @mcp_tool(name="increment_species")
    @action(detail=False, methods=["post"], serializer_class=IncrementSerializer)
    def increment(self, request):
        """Add to the count of a species, which is begun where it has none."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        bird, _ = Bird.objects.get_or_create(species=serializer.validated_data["name"])
        bird.count += serializer.validated_data["amount"]
        bird.save()
        return Response(BirdSerializer(bird).data)
