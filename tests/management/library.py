"""A small API whose tools the commands show."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny, DjangoModelPermissions, IsAdminUser
from rest_framework.renderers import TemplateHTMLRenderer
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView


class ShelfSerializer(serializers.Serializer):
    """A shelf of the library."""

    id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(help_text="What is written on the shelf.")
    room = serializers.ChoiceField(["cellar", "attic"], required=False, help_text="Where it is.")


class Fives(PageNumberPagination):
    page_size = 5


class Hourly(SimpleRateThrottle):
    scope = "hourly"
    THROTTLE_RATES = {"hourly": "2/hour"}

    def get_cache_key(self, request, view) -> str:
        return f"hourly-{request.user.pk}"


class ShelfViewSet(viewsets.ModelViewSet):
    """Shelves."""

    queryset = Group.objects.order_by("pk")
    serializer_class = ShelfSerializer
    pagination_class = Fives
    permission_classes = [DjangoModelPermissions]

    @action(detail=False, methods=["post"], permission_classes=[IsAdminUser])
    def dust(self, request) -> Response:
        """Dust every shelf."""
        return Response({"dusted": True})


class Door(APIView):
    """Open the door, for everybody."""

    permission_classes = [AllowAny]
    throttle_classes = [Hourly]
    serializer_class = ShelfSerializer

    def post(self, request) -> Response:
        """Open the door of a room."""
        serializer = ShelfSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


class Poster(APIView):
    """A page for people."""

    renderer_classes = [TemplateHTMLRenderer]

    def get(self, request) -> Response:
        return Response()


class Undescribed(APIView):
    schema = None

    def get(self, request) -> Response:
        return Response()


class Secret(APIView):
    """Something else."""

    def get(self, request) -> Response:
        return Response()


router = SimpleRouter()
router.register("shelves", ShelfViewSet)
urlpatterns = [
    path("", include(router.urls)),
    path("door/", Door.as_view()),
    path("poster/", Poster.as_view()),
    path("undescribed/", Undescribed.as_view()),
    path("secret/", Secret.as_view()),
]
