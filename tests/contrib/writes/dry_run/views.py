"""Views of groups, and views that run a function of the test."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.db import transaction
from django.views.decorators.cache import never_cache
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from drf_mcp import call_context
from drf_mcp.exposure import mcp_tool, mcp_viewset


class ThreeAMinute(SimpleRateThrottle):
    """Counts the calls of all callers together."""

    scope = "three"
    rate = "3/min"

    def get_cache_key(self, request, view) -> str:
        return "three"


def make_trace(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware that writes a row."""

    def respond(request: Any) -> Any:
        Group.objects.create(name=f"trace {uuid.uuid4()}")
        return get_response(request)

    return respond


class GroupSerializer(serializers.ModelSerializer):
    """A group."""

    class Meta:
        model = Group
        fields = ["id", "name"]


class MayRead(AllowAny):
    """Allows every write, and reads while ``reads`` is true."""

    reads = True

    def has_permission(self, request, view) -> bool:
        return self.reads or request.method != "GET"


@mcp_viewset(dry_run=True)
class GroupViewSet(ModelViewSet):
    """Groups."""

    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = [MayRead]

    @action(detail=True, methods=["post"])
    def shout(self, request, pk=None) -> Response:
        """Write the name in capitals."""
        group = self.get_object()
        group.name = group.name.upper()
        group.save(update_fields=["name"])
        return Response({"shouted": group.name})


@mcp_viewset(dry_run=True)
class ThrottledGroups(GroupViewSet):
    """Groups, three times a minute."""

    throttle_classes = [ThreeAMinute]


@mcp_tool(dry_run=True)
class Deed(APIView):
    """Runs the function of the test."""

    permission_classes = [AllowAny]
    do: Callable[[Any], Any] = staticmethod(lambda request: None)

    def post(self, request) -> Response:
        """Do it."""
        answer = type(self).do(request)
        return answer if isinstance(answer, Response) else Response(answer)


@mcp_tool(dry_run=True)
class AsyncDeed(APIView):
    """Runs the function of the test in a coroutine."""

    permission_classes = [AllowAny]

    @classmethod
    def as_view(cls, **initkwargs) -> Any:
        view = super().as_view(**initkwargs)

        async def respond(request, *args, **kwargs) -> Any:
            await asyncio.sleep(0)
            return await sync_to_async(view)(request, *args, **kwargs)

        respond.cls, respond.initkwargs, respond.csrf_exempt = cls, initkwargs, True
        return respond

    def post(self, request) -> Response:
        """Do it."""
        return Response(Deed.do(request))


non_atomic_deed = transaction.non_atomic_requests(Deed.as_view())
wrapped_deed = never_cache(Deed.as_view())


class Final(APIView):
    """Has no dry run."""

    permission_classes = [AllowAny]

    def post(self, request) -> Response:
        """Make a group."""
        Group.objects.create(name="final")
        return Response({"dry_run": call_context(request).dry_run})
