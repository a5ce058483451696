"""Teams that are resources, and a connection of a client that reads them under ASGI."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from django.contrib.auth.models import Group
from rest_framework import serializers
from rest_framework.authentication import BasicAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp import mcp_tool, mcp_viewset
from tests.asgi import communicate, frame


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]


@mcp_viewset(name="teams", resource=True)
class TeamViewSet(ModelViewSet):
    """Groups by their names, without those whose name begins with "secret"."""

    queryset = Group.objects.exclude(name__startswith="secret")
    serializer_class = GroupSerializer
    authentication_classes = [BasicAuthentication]
    permission_classes = [IsAuthenticated]
    lookup_field = "name"


@mcp_tool(name="motto", ui="motto.html")
class MottoView(APIView):
    authentication_classes = [BasicAuthentication]

    def get(self, request):
        return Response({"motto": "Answer today."})


router = SimpleRouter()
router.register("teams", TeamViewSet)


EVE = {"Authorization": f"Basic {b64encode(b'eve:x').decode()}"}


def connect(method: str, **params: Any) -> Any:
    body, headers = frame(method, token=None, **params)
    return communicate(body, {**headers, **EVE})
