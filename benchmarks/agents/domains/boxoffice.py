"""A box office: events, bookings, tickets and the door."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.response import Response

from benchmarks.agents.domains.making import (
    ObjectViewSet,
    make_serializer,
    make_urls,
    make_viewset,
    step,
)


class Venue(models.Model):
    name = models.CharField(max_length=80)
    city = models.CharField(max_length=60)
    capacity = models.PositiveIntegerField()


class Event(models.Model):
    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        ON_SALE = "on_sale", "On sale"
        SOLD_OUT = "sold_out", "Sold out"
        CANCELLED = "cancelled", "Cancelled"

    name = models.CharField(max_length=120)
    venue = models.ForeignKey(Venue, on_delete=models.PROTECT, related_name="events")
    starts_at = models.DateTimeField()
    doors_open_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)


class PriceCategory(models.Model):
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="price_categories")
    name = models.CharField(max_length=60, help_text="Such as stalls or balcony.")
    price = models.DecimalField(max_digits=7, decimal_places=2)
    quota = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "price categories"


class Booking(models.Model):
    class Status(models.TextChoices):
        RESERVED = "reserved", "Reserved"
        PAID = "paid", "Paid"
        CANCELLED = "cancelled", "Cancelled"
        REFUNDED = "refunded", "Refunded"

    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="bookings")
    category = models.ForeignKey(PriceCategory, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField(default=1)
    buyer_name = models.CharField(max_length=120)
    buyer_email = models.EmailField()
    voucher_code = models.CharField(max_length=20, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RESERVED)
    created_at = models.DateTimeField(default=timezone.now)


class EventTicket(models.Model):
    booking = models.ForeignKey(Booking, on_delete=models.CASCADE, related_name="tickets")
    code = models.CharField(max_length=12, unique=True)
    holder_name = models.CharField(max_length=120, blank=True)
    seat = models.CharField(max_length=8, blank=True)
    checked_in_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "ticket"


class Voucher(models.Model):
    code = models.CharField(max_length=20, unique=True)
    percent_off = models.PositiveSmallIntegerField()
    valid_until = models.DateField(null=True, blank=True)


class WaitingListEntry(models.Model):
    event = models.ForeignKey(Event, on_delete=models.CASCADE)
    name = models.CharField(max_length=120)
    email = models.EmailField()
    quantity = models.PositiveIntegerField(default=1)


class SeatChange(serializers.Serializer):
    seats = serializers.ListField(child=serializers.CharField(max_length=8))


class Transfer(serializers.Serializer):
    holder_name = serializers.CharField(max_length=120)
    holder_email = serializers.EmailField()


class EventViewSet(
    make_viewset(
        Event,
        order=("starts_at", "id"),
        filters={"status": ["exact"], "venue": ["exact"], "starts_at": ["gte", "lte"]},
        search=["name"],
        read_only=("status",),
    )
):
    @step()
    def publish(self, request, pk=None):
        return self.change(status=Event.Status.ON_SALE)

    @step()
    def cancel(self, request, pk=None):
        """Cancel the event and notify everyone with a booking."""
        return self.change(status=Event.Status.CANCELLED)

    @action(detail=True)
    def availability(self, request, pk=None):
        """Free places per price category."""
        rows = self.get_object().price_categories.values("name", "quota")
        return Response(list(rows))

    @action(detail=True)
    def sales(self, request, pk=None):
        """Revenue and number of tickets sold."""
        return Response({"sold": self.get_object().bookings.filter(status="paid").count()})

    @action(detail=True)
    def attendance(self, request, pk=None):
        """Tickets scanned and not yet scanned."""
        scanned = EventTicket.objects.filter(booking__event=pk, checked_in_at__isnull=False)
        return Response({"inside": scanned.count()})


class BookingViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    queryset = Booking.objects.order_by("id")
    serializer_class = make_serializer(Booking, read_only=("status", "created_at"))
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_fields = ["event", "status", "buyer_email"]
    search_fields = ["buyer_name", "buyer_email"]
    read, change = ObjectViewSet.read, ObjectViewSet.change

    @step()
    def cancel(self, request, pk=None):
        return self.change(status=Booking.Status.CANCELLED)

    @step()
    def refund(self, request, pk=None):
        return self.change(status=Booking.Status.REFUNDED)

    @step()
    def resend(self, request, pk=None):
        """Email the tickets to the buyer."""
        return Response(status=204)

    @step(serializer_class=SeatChange)
    def change_seats(self, request, pk=None):
        self.read()
        return Response(status=204)


class TicketViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    viewsets.GenericViewSet,
):
    queryset = EventTicket.objects.order_by("id")
    serializer_class = make_serializer(EventTicket, read_only=("code", "booking", "checked_in_at"))
    http_method_names = ["get", "patch", "post"]
    lookup_field = "code"
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {"booking": ["exact"], "checked_in_at": ["isnull"]}
    read, change = ObjectViewSet.read, ObjectViewSet.change

    @step(url_path="check-in")
    def check_in(self, request, code=None):
        return self.change(checked_in_at=timezone.now())

    @step(serializer_class=Transfer)
    def transfer(self, request, code=None):
        """Transfer the ticket to another holder."""
        return self.change(holder_name=self.read()["holder_name"])


urlpatterns = make_urls(
    ("events", EventViewSet),
    ("bookings", BookingViewSet),
    ("tickets", TicketViewSet),
    ("venues", make_viewset(Venue)),
    ("price-categories", make_viewset(PriceCategory, filters=["event"])),
    ("vouchers", make_viewset(Voucher)),
    ("waiting-list", make_viewset(WaitingListEntry, filters=["event"])),
)
