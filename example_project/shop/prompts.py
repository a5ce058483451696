"""Prompts for what people often ask of an agent."""

from __future__ import annotations

from rest_framework import serializers

from drf_mcp.contrib.prompts import Prompt
from example_project.shop.models import Order


class ComplaintSerializer(serializers.Serializer):
    """Settle a complaint about an order."""

    order = serializers.PrimaryKeyRelatedField(
        queryset=Order.objects.all(), help_text="The order that the customer wrote about."
    )
    tone = serializers.ChoiceField(
        choices=[("kind", "Warm and personal"), ("formal", "By the book")], default="kind"
    )


complaint = Prompt(
    "complaint",
    "shop/prompts/complaint.md",
    serializer_class=ComplaintSerializer,
    resources=["api/orders/{order}", "guides/returns"],
    title="Settle a complaint",
)
