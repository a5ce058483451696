"""A warehouse: stock by location, goods in and goods out."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.response import Response

from benchmarks.agents.domains.making import ObjectViewSet, make_serializer, make_urls, step


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


class ItemViewSet(ObjectViewSet):
    queryset = Item.objects.order_by("sku")
    serializer_class = make_serializer(Item)
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_fields = ["sku"]
    search_fields = ["name", "sku"]

    @action(detail=False, url_path="low-stock")
    def low_stock(self, request):
        """Items below their minimum stock."""
        return Response([])


class StockViewSet(viewsets.ReadOnlyModelViewSet):
    """On-hand quantities by item and location."""

    queryset = Stock.objects.order_by("id")
    read = ObjectViewSet.read
    serializer_class = make_serializer(Stock)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["item", "location"]

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


class LocationViewSet(ObjectViewSet):
    queryset = Location.objects.order_by("code")
    serializer_class = make_serializer(Location)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["zone"]


class LotViewSet(ObjectViewSet):
    queryset = Lot.objects.order_by("id")
    serializer_class = make_serializer(Lot, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {"item": ["exact"], "status": ["exact"], "expires_on": ["gte", "lte"]}

    @step()
    def quarantine(self, request, pk=None):
        return self.change(status=Lot.Status.QUARANTINED)

    @step()
    def release(self, request, pk=None):
        return self.change(status=Lot.Status.AVAILABLE)


class MovementViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Movement.objects.order_by("-moved_at", "id")
    serializer_class = make_serializer(Movement)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {
        "item": ["exact"],
        "location": ["exact"],
        "reason": ["exact"],
        "moved_at": ["gte", "lte"],
    }


class SupplierViewSet(ObjectViewSet):
    queryset = Supplier.objects.order_by("id")
    serializer_class = make_serializer(Supplier)
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_fields = ["items"]
    search_fields = ["name"]


class PurchaseOrderViewSet(ObjectViewSet):
    queryset = PurchaseOrder.objects.order_by("id")
    serializer_class = make_serializer(PurchaseOrder, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["supplier", "status", "item"]

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


class ShipmentViewSet(ObjectViewSet):
    queryset = Shipment.objects.order_by("ship_on", "id")
    serializer_class = make_serializer(Shipment, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["status", "carrier", "ship_on"]

    @step()
    def dispatch_shipment(self, request, pk=None):
        return self.change(status=Shipment.Status.DISPATCHED)

    @action(detail=True)
    def tracking(self, request, pk=None):
        """Carrier scans of the shipment."""
        return Response([])


class PickListViewSet(ObjectViewSet):
    queryset = PickList.objects.order_by("id")
    serializer_class = make_serializer(PickList)


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


class ReturnViewSet(ObjectViewSet):
    queryset = CustomerReturn.objects.order_by("id")
    serializer_class = make_serializer(CustomerReturn)


urlpatterns = make_urls(
    ("items", ItemViewSet),
    ("stock", StockViewSet),
    ("locations", LocationViewSet),
    ("lots", LotViewSet),
    ("movements", MovementViewSet),
    ("suppliers", SupplierViewSet),
    ("purchase-orders", PurchaseOrderViewSet),
    ("shipments", ShipmentViewSet),
    ("pick-lists", PickListViewSet),
    ("stock-counts", StockCountViewSet),
    ("returns", ReturnViewSet),
)
