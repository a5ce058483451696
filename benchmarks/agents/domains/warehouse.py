"""A warehouse: stock by location, goods in and goods out."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from benchmarks.agents.domains.making import (
    ObjectViewSet,
    make_serializer,
    make_urls,
    make_viewset,
    step,
)


class Item(models.Model):
    sku = models.CharField("SKU", max_length=20, unique=True)
    name = models.CharField(max_length=120)
    unit = models.CharField(max_length=10, default="pcs")
    minimum_stock = models.PositiveIntegerField(default=0, help_text="Reorder below this.")
    price = models.DecimalField(max_digits=8, decimal_places=2)


class Location(models.Model):
    code = models.CharField(max_length=12, unique=True, help_text="Aisle, rack and bin: A1-02.")
    zone = models.CharField(max_length=40, blank=True)


class Lot(models.Model):
    class Status(models.TextChoices):
        AVAILABLE = "available", "Available"
        QUARANTINED = "quarantined", "Blocked for inspection"

    item = models.ForeignKey(Item, on_delete=models.PROTECT)
    number = models.CharField(max_length=30)
    expires_on = models.DateField(null=True, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.AVAILABLE)


class Stock(models.Model):
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="stock")
    location = models.ForeignKey(Location, on_delete=models.PROTECT, related_name="stock")
    quantity = models.IntegerField()

    class Meta:
        verbose_name_plural = "stock"


class Movement(models.Model):
    class Reason(models.TextChoices):
        RECEIPT = "receipt", "Goods receipt"
        ISSUE = "issue", "Goods issue"
        TRANSFER = "transfer", "Transfer"
        ADJUSTMENT = "adjustment", "Adjustment"

    item = models.ForeignKey(Item, on_delete=models.PROTECT)
    location = models.ForeignKey(Location, on_delete=models.PROTECT)
    quantity = models.IntegerField()
    reason = models.CharField(max_length=12, choices=Reason.choices)
    user = models.CharField(max_length=60)
    moved_at = models.DateTimeField(default=timezone.now)


class Supplier(models.Model):
    name = models.CharField(max_length=120)
    email = models.EmailField(blank=True)
    lead_time_days = models.PositiveSmallIntegerField(default=7)
    items = models.ManyToManyField(Item, blank=True)


class PurchaseOrder(models.Model):
    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        SENT = "sent", "Sent to the supplier"
        RECEIVED = "received", "Received"
        CANCELLED = "cancelled", "Cancelled"

    supplier = models.ForeignKey(Supplier, on_delete=models.PROTECT)
    item = models.ForeignKey(Item, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField()
    expected_on = models.DateField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)


class Shipment(models.Model):
    class Status(models.TextChoices):
        PLANNED = "planned", "Planned"
        PACKED = "packed", "Packed"
        DISPATCHED = "dispatched", "Dispatched"
        DELIVERED = "delivered", "Delivered"

    reference = models.CharField(max_length=30)
    carrier = models.CharField(max_length=60)
    recipient = models.CharField(max_length=120)
    ship_on = models.DateField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PLANNED)


class PickList(models.Model):
    shipment = models.ForeignKey(Shipment, on_delete=models.CASCADE)
    picker = models.CharField(max_length=60, blank=True)
    completed = models.BooleanField(default=False)


class StockCount(models.Model):
    name = models.CharField(max_length=60)
    started_on = models.DateField(default=timezone.localdate)
    closed = models.BooleanField(default=False)


class CustomerReturn(models.Model):
    class Condition(models.TextChoices):
        UNOPENED = "unopened", "Unopened"
        USED = "used", "Used"
        DEFECTIVE = "defective", "Defective"

    shipment = models.ForeignKey(Shipment, on_delete=models.PROTECT)
    item = models.ForeignKey(Item, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField()
    condition = models.CharField(max_length=10, choices=Condition.choices)

    class Meta:
        verbose_name = "return"


class Transfer(serializers.Serializer):
    item = serializers.PrimaryKeyRelatedField(queryset=Item.objects.all())
    source = serializers.PrimaryKeyRelatedField(queryset=Location.objects.all())
    destination = serializers.PrimaryKeyRelatedField(queryset=Location.objects.all())
    quantity = serializers.IntegerField(min_value=1)


class WriteOff(serializers.Serializer):
    item = serializers.PrimaryKeyRelatedField(queryset=Item.objects.all())
    location = serializers.PrimaryKeyRelatedField(queryset=Location.objects.all())
    quantity = serializers.IntegerField(min_value=1)
    reason = serializers.CharField()


class CountedQuantity(serializers.Serializer):
    item = serializers.PrimaryKeyRelatedField(queryset=Item.objects.all())
    location = serializers.PrimaryKeyRelatedField(queryset=Location.objects.all())
    counted = serializers.IntegerField(min_value=0)


class ItemViewSet(make_viewset(Item, order=("sku",), filters=["sku"], search=["name", "sku"])):
    @action(detail=False, url_path="low-stock")
    def low_stock(self, request):
        """Items below their minimum stock."""
        return Response([])


class StockViewSet(
    make_viewset(Stock, filters=["item", "location"], base=viewsets.ReadOnlyModelViewSet)
):
    """On-hand quantities by item and location."""

    read = ObjectViewSet.read

    @action(detail=False, methods=["post"], serializer_class=Transfer)
    def transfer(self, request):
        self.read()
        return Response(status=204)

    @action(detail=False, methods=["post"], serializer_class=WriteOff, url_path="write-off")
    def write_off(self, request):
        self.read()
        return Response(status=204)

    @action(detail=False)
    def valuation(self, request):
        """Value of the stock at cost, by zone."""
        return Response({"total": "0.00"})


class LotViewSet(
    make_viewset(
        Lot,
        filters={"item": ["exact"], "status": ["exact"], "expires_on": ["gte", "lte"]},
        read_only=("status",),
    )
):
    @step()
    def quarantine(self, request, pk=None):
        return self.change(status=Lot.Status.QUARANTINED)

    @step()
    def release(self, request, pk=None):
        return self.change(status=Lot.Status.AVAILABLE)


class PurchaseOrderViewSet(
    make_viewset(PurchaseOrder, filters=["supplier", "status", "item"], read_only=("status",))
):
    @step()
    def receive(self, request, pk=None):
        return self.change(status=PurchaseOrder.Status.RECEIVED)

    @step()
    def cancel(self, request, pk=None):
        return self.change(status=PurchaseOrder.Status.CANCELLED)

    @action(detail=False)
    def overdue(self, request):
        rows = self.get_queryset().filter(expected_on__lt=timezone.localdate())
        return Response(self.get_serializer(rows, many=True).data)


class ShipmentViewSet(
    make_viewset(
        Shipment,
        order=("ship_on", "id"),
        filters=["status", "carrier", "ship_on"],
        read_only=("status",),
    )
):
    @step()
    def dispatch_shipment(self, request, pk=None):
        return self.change(status=Shipment.Status.DISPATCHED)

    @action(detail=True)
    def tracking(self, request, pk=None):
        """Carrier scans of the shipment."""
        return Response([])


class StockCountViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    queryset = StockCount.objects.order_by("id")
    serializer_class = make_serializer(StockCount, read_only=("closed",))
    read, change = ObjectViewSet.read, ObjectViewSet.change

    @step(serializer_class=CountedQuantity)
    def record(self, request, pk=None):
        """Record a counted quantity."""
        self.read()
        return Response(status=204)

    @step()
    def close(self, request, pk=None):
        """Close the count and post the differences."""
        return self.change(closed=True)


urlpatterns = make_urls(
    ("items", ItemViewSet),
    ("stock", StockViewSet),
    ("locations", make_viewset(Location, order=("code",), filters=["zone"])),
    ("lots", LotViewSet),
    (
        "movements",
        make_viewset(
            Movement,
            order=("-moved_at", "id"),
            filters={
                "item": ["exact"],
                "location": ["exact"],
                "reason": ["exact"],
                "moved_at": ["gte", "lte"],
            },
            base=viewsets.ReadOnlyModelViewSet,
        ),
    ),
    ("suppliers", make_viewset(Supplier, filters=["items"], search=["name"])),
    ("purchase-orders", PurchaseOrderViewSet),
    ("shipments", ShipmentViewSet),
    ("pick-lists", make_viewset(PickList)),
    ("stock-counts", StockCountViewSet),
    ("returns", make_viewset(CustomerReturn)),
)
