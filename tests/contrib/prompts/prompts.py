"""Serializers of the arguments of prompts."""

from __future__ import annotations

from django.utils.translation import gettext_lazy
from rest_framework import serializers

from example_project.shop.models import Customer, Order, Product


class ComplaintSerializer(serializers.Serializer):
    """Settle a complaint about an order."""

    order = serializers.PrimaryKeyRelatedField(
        queryset=Order.objects.all(), help_text="The order that the customer wrote about."
    )
    tone = serializers.ChoiceField(
        choices=[("kind", "Warm"), ("formal", "By the book")], required=False
    )
    days = serializers.IntegerField(required=False, max_value=30)
    urgent = serializers.BooleanField(default=False)


class AttachedSerializer(serializers.Serializer):
    order = serializers.CharField()


class ProductSerializer(serializers.Serializer):
    product = serializers.SlugRelatedField(slug_field="slug", queryset=Product.objects.all())


class CustomersSerializer(serializers.Serializer):
    customers = serializers.PrimaryKeyRelatedField(queryset=Customer.objects.all(), many=True)


TRANSLATED = gettext_lazy("Home")
