"""The views of the tests in this folder."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exceptions import SoftFailure


class OwnerSerializer(serializers.Serializer):
    name = serializers.CharField(required=False)
    pin = serializers.CharField(write_only=True, required=False)


class CardSerializer(serializers.Serializer):
    """A purchase with a card."""

    title = serializers.CharField(required=False)
    note = serializers.CharField(write_only=True, required=False)
    password = serializers.CharField(required=False)
    details = serializers.JSONField(required=False)
    owners = OwnerSerializer(many=True, required=False)


class Cards(APIView):
    """Take a card."""

    permission_classes = []
    serializer_class = CardSerializer

    def post(self, request) -> Response:
        serializer = CardSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response({"taken": True})


class Crashes(APIView):
    """Crash."""

    permission_classes = []

    def get(self, request) -> Response:
        raise RuntimeError("inside")


class Declines(APIView):
    """Answer with a soft failure."""

    permission_classes = []

    def get(self, request) -> Response:
        raise SoftFailure("No.", "sold_out")


class Unwritable(APIView):
    """Answer with a value that JSON cannot represent."""

    permission_classes = []

    def get(self, request) -> Response:
        return Response({"value": object()})


class Queries(APIView):
    """Run as many queries as the test wants."""

    permission_classes = []
    often = 0

    def get(self, request) -> Response:
        for pk in range(self.often):
            User.objects.filter(pk=pk).first()
        return Response({"groups": Group.objects.count()})
