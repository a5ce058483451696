"""Views that ask the user while they run."""

from __future__ import annotations

from django.contrib.auth.models import Group
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from drf_mcp import call_context, mcp_viewset
from drf_mcp.exposure import mcp_tool
from drf_mcp.outcomes import Question

PAID: set[str] = set()


class RefundReason(serializers.Serializer):
    reason = serializers.ChoiceField(choices=[("late", "Came late"), ("broken", "Broken")])
    amount = serializers.DecimalField(max_digits=6, decimal_places=2, min_value=1)
    note = serializers.CharField(required=False, max_length=40, help_text="For the customer.")


class Approval(serializers.Serializer):
    approved_by = serializers.EmailField()


class Secret(serializers.Serializer):
    password = serializers.CharField(write_only=True)


@mcp_viewset()
class RefundViewSet(ViewSet):
    """Each action asks in another way."""

    permission_classes: list[type] = []

    def create(self, request):
        answer = call_context(request).ask(RefundReason, "Why is the money given back?")
        return Response({"reason": answer["reason"], "amount": str(answer["amount"])})

    @action(detail=True, methods=["post"])
    def approve(self, request, pk):
        context = call_context(request)
        reason = context.ask(RefundReason, "Why?")
        approval = context.ask(Approval, "Who approved it?")
        return Response({"reason": reason["reason"], "by": approval["approved_by"]})

    def partial_update(self, request, pk):
        Group.objects.create(name="before the question")
        call_context(request).ask(Approval, "Who approved it?")
        return Response({"groups": Group.objects.count()})

    def destroy(self, request, pk):
        call_context(request).ask(Secret, "What is the password?")
        return Response({})


class ChargeViewSet(ViewSet):
    permission_classes: list[type] = []

    @mcp_tool()
    def create(self, request):
        if "charge" not in PAID:
            call_context(request).visit("https://pay.example/1", "Pay the bill.")
        return Response({"paid": "charge" in PAID})

    @mcp_tool(required_capabilities={"elicitation": {}})
    def update(self, request, pk):
        return Response({"ran": True})

    @mcp_tool()
    def destroy(self, request, pk):
        several = call_context(request).collect(
            Question("name", "Whose?", {"type": "object", "properties": {}}),
            Question("roots", request={"method": "roots/list"}),
        )
        return Response({"roots": several["roots"].result["roots"]})
