"""The URLs of the shop, a call that takes some seconds, and a call that asks its user."""

from __future__ import annotations

from django.urls import path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from tests.programs.interop.counting_urls import urlpatterns as counting


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()


@mcp_tool(name="give_reason")
class AskingView(APIView):
    def post(self, request):
        return Response(call_context(request).ask(ReasonSerializer, "Why?"))


urlpatterns = [*counting, path("reason", AskingView.as_view())]
