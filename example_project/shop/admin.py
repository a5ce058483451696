"""The shop in Django's admin site."""

from __future__ import annotations

from django.contrib import admin

from example_project.shop.models import Customer, ExchangeRate, Order, OrderLine, Product, Ticket


@admin.register(Customer)
class CustomerAdmin(admin.ModelAdmin):
    list_display = ["name", "email", "tier", "country", "owner", "is_active"]
    list_filter = ["tier", "is_active", "owner"]
    search_fields = ["name", "email"]


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    list_display = ["name", "sku", "category", "price", "stock"]
    list_filter = ["category"]
    search_fields = ["name", "sku"]


class OrderLineInline(admin.TabularInline):
    model = OrderLine
    extra = 0


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["number", "customer", "status", "placed_at"]
    list_filter = ["status"]
    search_fields = ["number", "customer__name"]
    inlines = [OrderLineInline]


@admin.register(Ticket)
class TicketAdmin(admin.ModelAdmin):
    list_display = ["subject", "customer", "priority", "status", "created"]
    list_filter = ["status", "priority"]
    search_fields = ["subject", "customer__name"]


@admin.register(ExchangeRate)
class ExchangeRateAdmin(admin.ModelAdmin):
    list_display = ["currency", "rate", "fetched_at"]
