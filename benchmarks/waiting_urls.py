"""The URLs of the shop, a form without an answer, and a call that takes a minute."""

from __future__ import annotations

import time

from django.urls import path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool
from example_project.urls import urlpatterns as shop

SECONDS = 60


class Reason(serializers.Serializer):
    reason = serializers.CharField()


@mcp_tool(name="wait_for_answer")
class FormView(APIView):
    def post(self, request):
        """Ask the user."""
        return Response(call_context(request).ask(Reason, "Why?"))


@mcp_tool(name="tell_of_progress")
class StreamView(APIView):
    def post(self, request):
        """Report progress each second, as long as the client listens."""
        context = call_context(request)
        for second in range(SECONDS):
            context.progress(second, SECONDS)
            time.sleep(1)
            if context.cancelled:
                break
        return Response({})


urlpatterns = [*shop, path("ask", FormView.as_view()), path("stream", StreamView.as_view())]
