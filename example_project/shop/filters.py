"""Query parameters of the lists."""

from __future__ import annotations

import django_filters

from example_project.shop.models import Customer, Order, Product, Ticket


class WordsFilter(django_filters.BaseInFilter, django_filters.CharFilter):
    """Several words, separated by commas."""


class CustomerFilter(django_filters.FilterSet):
    """Narrows the list of customers."""

    name = django_filters.CharFilter(lookup_expr="icontains", help_text="A part of the name.")
    tier = django_filters.MultipleChoiceFilter(choices=Customer.Tier.choices)
    country = WordsFilter(lookup_expr="in", help_text="ISO codes separated by commas: DE,FR.")
    joined = django_filters.DateFromToRangeFilter()
    has_orders = django_filters.BooleanFilter(
        method="filter_has_orders", help_text="True: only those who ever ordered."
    )

    class Meta:
        model = Customer
        fields = ["is_active", "email"]

    def filter_has_orders(self, queryset, name, value):
        """Keep customers with orders, or those without."""
        return queryset.filter(orders__isnull=not value).distinct()


class ProductFilter(django_filters.FilterSet):
    """Narrows the list of products."""

    category = django_filters.MultipleChoiceFilter(choices=Product.Category.choices)
    in_stock = django_filters.BooleanFilter(method="filter_in_stock")

    class Meta:
        model = Product
        fields = {"price": ["gte", "lte"], "sku": ["exact"], "released": ["gte", "lte", "isnull"]}

    def filter_in_stock(self, queryset, name, value):
        """Keep products that can be shipped today, or those that cannot."""
        return queryset.filter(stock__gt=0) if value else queryset.filter(stock=0)


class OrderFilter(django_filters.FilterSet):
    """Narrows the list of orders."""

    status = django_filters.MultipleChoiceFilter(choices=Order.Status.choices)
    placed = django_filters.IsoDateTimeFromToRangeFilter(field_name="placed_at")

    class Meta:
        model = Order
        fields = ["number", "customer"]


class TicketFilter(django_filters.FilterSet):
    """Narrows the list of tickets."""

    priority__gte = django_filters.NumberFilter(field_name="priority", lookup_expr="gte")

    class Meta:
        model = Ticket
        fields = ["status", "priority", "customer"]
