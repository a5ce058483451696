"""The shop's API: viewsets, generic views, a plain APIView and a function."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

from django.db.models import Count, DecimalField, F, Max, Sum
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics, mixins, viewsets
from rest_framework.decorators import action, api_view, permission_classes
from rest_framework.exceptions import ErrorDetail
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import call_context, mcp_tool, mcp_viewset
from drf_mcp.exceptions import Conflict, SoftFailure
from example_project.shop import filters, pagination, serializers
from example_project.shop.models import Customer, Order, OrderLine, Product, Ticket
from example_project.shop.permissions import IsOpenerOrStaff, IsOwnerOrPermitted
from example_project.shop.quotes import Quote
from example_project.shop.throttling import OpeningThrottle
from example_project.shop.versioning import StatusVersioning

ENDED = [Order.Status.CANCELLED, Order.Status.REFUNDED]
CENT = Decimal("0.01")


def revenue(orders) -> Decimal:
    """Return the revenue of the orders that were neither cancelled nor refunded."""
    lines = OrderLine.objects.filter(order__in=orders.exclude(status__in=ENDED))
    subtotal = F("quantity") * F("unit_price")
    total = lines.aggregate(sum=Sum(subtotal, output_field=DecimalField()))["sum"]
    return (total or Decimal(0)).quantize(CENT)


def require_status(order: Order, *allowed: Order.Status) -> None:
    """Raise `Conflict` unless the order has one of the statuses."""
    if order.status not in allowed:
        wanted = " or ".join(allowed)
        raise Conflict(f"Order {order.number} is {order.status}; it would have to be {wanted}.")


class CustomerViewSet(viewsets.ModelViewSet):
    """Customers and how to reach them.

    Users see the customers they look after; staff see all of them.
    """

    queryset = Customer.objects.select_related("owner")
    serializer_class = serializers.CustomerSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = pagination.NumberedPages
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_class = filters.CustomerFilter
    search_fields = ["name", "email"]
    ordering_fields = ["name", "joined", "country"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_destroy(self, instance: Customer) -> None:
        self.require_no_orders(instance)
        instance.delete()

    def require_no_orders(self, customer: Customer) -> None:
        """Raise `Conflict` for a customer with orders."""
        if customer.orders.exists():
            raise Conflict(f"{customer.name} has orders. Deactivate the customer instead.")

    @mcp_tool(destructive=True, idempotent=True)
    @action(detail=True, methods=["post"], permission_classes=[IsAdminUser])
    def deactivate(self, request, pk=None) -> Response:
        """Close a customer's account. Staff only; orders and tickets are kept."""
        customer = self.get_object()
        customer.is_active = False
        customer.save(update_fields=["is_active"])
        return Response(serializers.CustomerSerializer(customer).data)

    @action(detail=True, serializer_class=serializers.CustomerSummarySerializer)
    def summary(self, request, pk=None) -> Response:
        """Show a customer in figures: orders, money spent, open tickets."""
        customer = self.get_object()
        orders = customer.orders.all()
        figures = {
            "orders": orders.count(),
            "unfinished_orders": orders.filter(status__in=["pending", "paid"]).count(),
            "spent": revenue(orders),
            "last_order_at": orders.aggregate(last=Max("placed_at"))["last"],
            "open_tickets": customer.tickets.filter(status=Ticket.Status.OPEN).count(),
        }
        return Response(self.get_serializer(figures).data)


class ProductViewSet(mixins.UpdateModelMixin, viewsets.ReadOnlyModelViewSet):
    """The catalogue. A product is named by its slug, such as ``cast-iron-pan``."""

    queryset = Product.objects.all()
    serializer_class = serializers.ProductSerializer
    lookup_field = "slug"
    permission_classes = [AllowAny]
    pagination_class = pagination.ProductWindow
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_class = filters.ProductFilter
    search_fields = ["name", "description"]
    ordering_fields = ["name", "price", "released"]
    http_method_names = ["get", "post", "patch", "head", "options"]

    def get_permissions(self):
        return [IsAdminUser()] if self.action == "partial_update" else super().get_permissions()

    def get_serializer_class(self):
        prices = self.action == "partial_update"
        return serializers.ProductPriceSerializer if prices else super().get_serializer_class()

    @mcp_tool(title="Change prices", bulk=True)
    def partial_update(self, request, *args, **kwargs) -> Response:
        """Change the price of a product, or of several at once. Staff only."""
        return super().partial_update(request, *args, **kwargs)

    @mcp_tool(title="Look up products", read_only=True)
    @action(detail=False, methods=["post"], serializer_class=serializers.ProductLookupSerializer)
    def lookup(self, request) -> Response:
        """Show prices and stock of several products at once; null stands for a miss."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        slugs = serializer.validated_data["slugs"]
        found = Product.objects.in_bulk(slugs, field_name="slug")
        products = [
            serializers.ProductPriceSerializer(found[slug]).data if slug in found else None
            for slug in slugs
        ]
        misses = {
            place: ErrorDetail(f"Product '{slug}' not found.", "product_not_found")
            for place, slug in enumerate(slugs)
            if slug not in found
        }
        if misses:
            raise SoftFailure(
                {"slugs": misses},
                data={"products": products},
                remediation="Use products_list to find the slugs of existing products.",
            )
        return Response({"products": products})


@mcp_viewset(
    aggregate=["status", "customer", "placed_at", "refunded_amount"],
    if_match="changed_at",
    dry_run=True,
)
class OrderViewSet(viewsets.ModelViewSet):
    """Orders with their lines.

    The list holds the orders of your own customers. A single order of somebody else is
    refused rather than hidden, so that a wrong account can be told from a wrong number.
    """

    queryset = Order.objects.detailed()
    serializer_class = serializers.OrderSerializer
    permission_classes = [IsOwnerOrPermitted]
    pagination_class = pagination.OrderCursor
    filter_backends = [DjangoFilterBackend]
    filterset_class = filters.OrderFilter

    def get_queryset(self):
        orders = super().get_queryset()
        several = self.action in ("list", "export")
        return orders.visible_to(self.request.user) if several else orders

    def perform_update(self, serializer) -> None:
        require_status(serializer.instance, Order.Status.PENDING)
        serializer.save()

    def perform_destroy(self, instance: Order) -> None:
        require_status(instance, Order.Status.PENDING, Order.Status.CANCELLED)
        instance.delete()

    @mcp_tool(title="Export orders", task="optional")
    @action(detail=False, pagination_class=None, serializer_class=serializers.ExportSerializer)
    def export(self, request) -> Response:
        """Write all orders of your own customers as one CSV text, narrowed as the list is."""
        context, orders = call_context(request), self.filter_queryset(self.get_queryset())
        text, total = io.StringIO(), len(orders)
        lines = csv.writer(text)
        lines.writerow(["number", "customer", "status", "placed_at", "total"])
        for count, order in enumerate(orders, start=1):
            if context.cancelled:
                break
            placed = order.placed_at.isoformat()
            lines.writerow([order.number, order.customer, order.status, placed, order.total])
            context.progress(count, total, f"Wrote {count} of {total} orders")
        return Response({"orders": total, "csv": text.getvalue()})

    def answer(self, order: Order) -> Response:
        """The order as the other routes show it."""
        context = self.get_serializer_context()
        return Response(serializers.OrderSerializer(order, context=context).data)

    @mcp_tool(title="Refund an order", destructive=True, idempotency_key=True, ui="form")
    @action(detail=True, methods=["post"], serializer_class=serializers.RefundSerializer)
    def refund(self, request, pk=None) -> Response:
        """Give back the money of a paid or shipped order, or a part of it. Cannot be undone."""
        return self.answer(self.check_refund(request).save())

    def check_refund(self, request):
        """Return the valid serializer of a refund."""
        order = self.get_object()
        require_status(order, Order.Status.PAID, Order.Status.SHIPPED)
        serializer = self.get_serializer(order, data=request.data)
        serializer.is_valid(raise_exception=True)
        return serializer

    @mcp_tool(title="Cancel an order", destructive=True)
    @action(detail=True, methods=["post"])
    def cancel(self, request, pk=None) -> Response:
        """Call off an order that has not been shipped."""
        order = self.find_unshipped()
        order.status_before, order.status = order.status, Order.Status.CANCELLED
        order.save(update_fields=["status", "status_before"])
        return self.answer(order)

    def find_unshipped(self) -> Order:
        """Return the order, or raise `Conflict` if it cannot be called off."""
        order = self.get_object()
        require_status(order, Order.Status.PENDING, Order.Status.PAID)
        return order

    @mcp_tool(title="Reopen an order", destructive=False)
    @action(detail=True, methods=["post"])
    def reopen(self, request, pk=None) -> Response:
        """Take a cancellation back: the order is pending or paid again, as it was."""
        order = self.get_object()
        require_status(order, Order.Status.CANCELLED)
        order.status, order.status_before = order.status_before or Order.Status.PENDING, ""
        order.save(update_fields=["status", "status_before"])
        return self.answer(order)

    @mcp_tool(title="Order the same again", destructive=False)
    @action(detail=True, methods=["post"])
    def reorder(self, request, pk=None) -> Response:
        """Place the lines of an order again, at today's prices, but for what is out of stock."""
        order = self.get_object()
        lines = order.lines.all()
        short = [line for line in lines if line.quantity > line.product.stock]
        if len(short) == len(lines):
            raise Conflict(f"Nothing of order {order.number} is in stock.")
        if short:
            call_context(request).warn(
                f"{len(short)} of {len(lines)} lines are not in stock and were left out.",
                code="PARTIAL_FAILURE",
                context={
                    "failed_lines": [line.product.slug for line in short],
                    "successful_lines": len(lines) - len(short),
                    "total_lines": len(lines),
                },
            )
        return self.answer(order.again([line for line in lines if line not in short]))


class CustomerOrderViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    """The orders of one customer."""

    queryset = Order.objects.detailed()
    serializer_class = serializers.CustomerOrderSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = pagination.OrderCursor

    def get_customer(self) -> Customer:
        """The customer whom the path names, if the user may see them."""
        customers = Customer.objects.visible_to(self.request.user)
        return get_object_or_404(customers, pk=self.kwargs["customer_pk"])

    def get_queryset(self):
        return super().get_queryset().filter(customer=self.get_customer())

    def perform_create(self, serializer) -> None:
        serializer.save(customer=self.get_customer())


class TicketList(generics.ListCreateAPIView):
    """Questions and complaints of customers. Opening one is limited to 20 an hour."""

    serializer_class = serializers.TicketSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = pagination.NumberedPages
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_class = filters.TicketFilter
    search_fields = ["subject", "body"]
    throttle_classes = [OpeningThrottle]
    throttle_scope = "open-ticket"

    def get_queryset(self):
        tickets = Ticket.objects.select_related("opened_by")
        user = self.request.user
        return tickets if user.is_staff else tickets.filter(opened_by=user.pk)

    def perform_create(self, serializer) -> None:
        serializer.save(opened_by=self.request.user)


class TicketDetail(generics.RetrieveUpdateDestroyAPIView):
    """One ticket, for the user who opened it and for staff."""

    queryset = Ticket.objects.select_related("opened_by")
    serializer_class = serializers.TicketSerializer
    permission_classes = [IsAuthenticated, IsOpenerOrStaff]


@mcp_tool(
    title="Shop figures",
    read_only=True,
    keywords=["turnover", "takings"],
    meta={"com.example.shop/owner": "back office"},
    icons=[{"src": "https://shop.example.com/icons/figures.svg", "sizes": ["any"]}],
)
@api_view(["GET"])
@permission_classes([IsAuthenticated])
def stats(request) -> Response:
    """Count what you can see: customers, orders by status, revenue, open tickets."""
    orders = Order.objects.visible_to(request.user)
    tickets = Ticket.objects.filter(customer__in=Customer.objects.visible_to(request.user))
    by_status = orders.order_by().values_list("status").annotate(Count("id"))
    return Response(
        {
            "customers": Customer.objects.visible_to(request.user).count(),
            "orders": dict(by_status),
            "revenue": str(revenue(orders)),
            "open_tickets": tickets.filter(status=Ticket.Status.OPEN).count(),
        }
    )


@mcp_tool(title="Quote a price", read_only=True)
class QuoteView(APIView):
    """Work out what a number of pieces would cost. Nothing is stored."""

    # A plain APIView does not use the class itself; drf_mcp and drf-spectacular describe it.
    serializer_class = serializers.QuoteSerializer
    permission_classes = [IsAuthenticated]

    def post(self, request) -> Response:
        """Work out what a number of pieces would cost. Nothing is stored."""
        serializer = self.serializer_class(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        quote = Quote(serializer.validated_data, call_context(request))
        return Response(quote.figures())


@mcp_tool(title="Status of the shop", read_only=True)
class StatusView(APIView):
    """Tell whether the shop is open. Version v2 also counts products and gives the time."""

    permission_classes = [AllowAny]
    versioning_class = StatusVersioning

    def get(self, request, version: str) -> Response:
        """Tell whether the shop is open. Version v2 also counts products and gives the time."""
        if request.version == "v1":
            return Response({"status": "open"})
        return Response(
            {
                "status": "open",
                "version": request.version,
                "products": Product.objects.count(),
                "time": timezone.now(),
            }
        )
