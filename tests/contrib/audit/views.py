"""Views whose calls are audited."""

from __future__ import annotations

from django.contrib.auth.models import Group
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from drf_mcp import call_context
from drf_mcp.exceptions import SoftFailure

made: list[str] = []


class GroupSerializer(serializers.Serializer):
    name = serializers.CharField()
    pin = serializers.CharField(write_only=True, required=False)


class MakeGroup(APIView):
    """Make a group; the names crash, missing and declined fail."""

    permission_classes = [IsAuthenticated]
    serializer_class = GroupSerializer

    def post(self, request) -> Response:
        serializer = GroupSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        name = serializer.validated_data["name"]
        made.append(name)
        Group.objects.create(name=name[:100])
        call_context(request).rows_changed(1)
        if name == "crash":
            raise RuntimeError("a bug")
        if name == "missing":
            raise NotFound
        if name == "declined":
            raise SoftFailure("No.")
        return Response({"name": name}, status=201)


class OnceAMinute(UserRateThrottle):
    rate = "1/min"


class Slow(APIView):
    """Answer at most once a minute."""

    permission_classes = [IsAuthenticated]
    throttle_classes = [OnceAMinute]

    def get(self, request) -> Response:
        return Response({})
