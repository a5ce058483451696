"""Presses, and rows that a delete of a press removes, keeps, or is prevented by."""

from __future__ import annotations

from django.db import models
from rest_framework import permissions, serializers, viewsets
from rest_framework.authentication import TokenAuthentication
from rest_framework.decorators import action
from rest_framework.generics import RetrieveDestroyAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool


class Press(models.Model):
    name = models.CharField(max_length=40)
    owner = models.CharField(max_length=20, default="alice")
    fee = models.DecimalField(max_digits=6, decimal_places=2, default=0)

    class Meta:
        app_label = "tests"
        verbose_name_plural = "presses"

    def __str__(self) -> str:
        return self.name


class Volume(models.Model):
    press = models.ForeignKey(Press, models.CASCADE, related_name="volumes")
    is_secret = models.BooleanField(default=False)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return f"Volume {self.pk}"


class Note(models.Model):
    volume = models.ForeignKey(Volume, models.CASCADE)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return f"Note {self.pk}"


class Visit(models.Model):
    press = models.ForeignKey(Press, models.SET_NULL, null=True)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return f"Visit {self.pk}"


class Debt(models.Model):
    press = models.ForeignKey(Press, models.PROTECT)

    class Meta:
        app_label = "tests"

    def __str__(self) -> str:
        return f"Debt {self.pk}"


MODELS = (Press, Volume, Note, Visit, Debt)


class PressSerializer(serializers.ModelSerializer):
    class Meta:
        model = Press
        fields = ["id", "name", "owner", "fee"]


class VolumeSerializer(serializers.ModelSerializer):
    class Meta:
        model = Volume
        fields = ["id", "press"]


class IsOwner(permissions.BasePermission):
    message = "Not your press."

    def has_object_permission(self, request, view, obj) -> bool:
        return obj.owner == request.user.get_username()


class PressViewSet(viewsets.ModelViewSet):
    """Presses that only their owner changes."""

    queryset = Press.objects.order_by("pk")
    serializer_class = PressSerializer
    authentication_classes = [TokenAuthentication]
    permission_classes = [permissions.IsAuthenticated, IsOwner]

    @mcp_tool(confirm=True, body={"amount": {"type": "integer"}, "password": {"type": "string"}})
    @action(detail=True, methods=["post"])
    def charge(self, request, pk=None) -> Response:
        """Charge a press. The argument amount is added to its fee."""
        press = self.get_object()
        press.fee += int(request.data.get("amount", 1))
        press.save()
        return Response({"fee": press.fee})


class ClosingViewSet(viewsets.ModelViewSet):
    """Presses that are deleted with their debts."""

    queryset = Press.objects.order_by("pk")
    serializer_class = PressSerializer
    permission_classes = [permissions.AllowAny]

    def perform_destroy(self, instance) -> None:
        Debt.objects.filter(press=instance).delete()
        instance.delete()


class VolumeViewSet(viewsets.ReadOnlyModelViewSet):
    """Volumes that are not secret."""

    queryset = Volume.objects.filter(is_secret=False).order_by("pk")
    serializer_class = VolumeSerializer
    permission_classes = [permissions.AllowAny]


class PressDetail(RetrieveDestroyAPIView):
    queryset = Press.objects.order_by("pk")
    serializer_class = PressSerializer
    permission_classes = [permissions.AllowAny]


class PurgeView(APIView):
    """Purges everything."""

    permission_classes = [permissions.AllowAny]

    def delete(self, request) -> Response:
        return Response({"purged": Press.objects.all().delete()[0]})
