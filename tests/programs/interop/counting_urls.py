"""The URLs of the shop, and two calls that take long: one counts, one asks its user."""

from __future__ import annotations

import time

from django.urls import path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from example_project.urls import urlpatterns as shop

STEPS, SECONDS = 8, 0.3


@mcp_tool(name="count_slowly")
class CountingView(APIView):
    def post(self, request):
        """Count, and send each number as progress."""
        context = call_context(request)
        for number in range(1, STEPS + 1):
            time.sleep(SECONDS)
            context.progress(number, STEPS)
        return Response({"counted": STEPS})


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


@mcp_tool(name="give_reason")
class AskingView(APIView):
    def post(self, request):
        return Response(call_context(request).ask(ReasonSerializer, "Why?"))


urlpatterns = [*shop, path("count", CountingView.as_view()), path("reason", AskingView.as_view())]
