"""The shop's tables."""

from __future__ import annotations

import uuid
from datetime import date
from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models, transaction
from django.utils import timezone


def today() -> date:
    """The current date in the project's time zone."""
    return timezone.localdate()


def new_order_number() -> str:
    """Return a new order number."""
    return f"S-{uuid.uuid4().hex[:8].upper()}"


class CustomerQuerySet(models.QuerySet):
    """Queries over customers."""

    def visible_to(self, user) -> CustomerQuerySet:
        """Return all customers for staff, and the user's own customers for others."""
        return self if user.is_staff else self.filter(owner=user.pk)


class Customer(models.Model):
    """A person who buys. One user, the owner, looks after each customer."""

    class Tier(models.TextChoices):
        STANDARD = "standard", "Standard"
        SILVER = "silver", "Silver: 5 % off"
        GOLD = "gold", "Gold: 10 % off"

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="customers"
    )
    name = models.CharField(max_length=120)
    email = models.EmailField()
    tier = models.CharField(max_length=10, choices=Tier.choices, default=Tier.STANDARD)
    country = models.CharField(
        max_length=2,
        help_text="ISO 3166-1 code of two capital letters, such as DE.",
        validators=[RegexValidator(r"^[A-Z]{2}$", "Give two capital letters, such as DE.")],
    )
    joined = models.DateField(default=today)
    is_active = models.BooleanField(default=True)

    objects = CustomerQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "email"], name="customer_email_per_owner")
        ]

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    """Something to buy."""

    class Category(models.TextChoices):
        KITCHEN = "kitchen", "Kitchen"
        GARDEN = "garden", "Garden"
        BOOKS = "books", "Books"
        GAMES = "games", "Games"
        OFFICE = "office", "Office"

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    sku = models.CharField(
        max_length=8,
        unique=True,
        help_text="Stock number: three letters, a hyphen and four digits.",
        validators=[RegexValidator(r"^[A-Z]{3}-[0-9]{4}$")],
    )
    category = models.CharField(max_length=10, choices=Category.choices)
    price = models.DecimalField(
        max_digits=8, decimal_places=2, validators=[MinValueValidator(Decimal("0.01"))]
    )
    stock = models.PositiveIntegerField(default=0, help_text="Pieces in the warehouse.")
    description = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    released = models.DateField(null=True, blank=True, help_text="Null before its release.")

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class OrderQuerySet(models.QuerySet):
    """Queries over orders."""

    def detailed(self) -> OrderQuerySet:
        """Fetch the related rows that a serialized order shows."""
        return self.select_related("customer__owner").prefetch_related("lines__product")

    def visible_to(self, user) -> OrderQuerySet:
        """Return all orders for users who may view them, and those of own customers for others."""
        return self if user.has_perm("shop.view_order") else self.filter(customer__owner=user.pk)


class Order(models.Model):
    """What a customer bought, in lines."""

    class Status(models.TextChoices):
        PENDING = "pending", "Waiting for payment"
        PAID = "paid", "Paid, not yet shipped"
        SHIPPED = "shipped", "Shipped"
        CANCELLED = "cancelled", "Cancelled before shipping"
        REFUNDED = "refunded", "Refunded"

    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="orders")
    number = models.CharField(max_length=12, unique=True, default=new_order_number)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    placed_at = models.DateTimeField(default=timezone.now)
    note = models.TextField(blank=True, help_text="What the customer asked for.")
    status_before = models.CharField(
        max_length=10, blank=True, editable=False, help_text="What a cancelled order was."
    )
    refunded_amount = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    refund_reason = models.CharField(max_length=200, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["-placed_at", "id"]

    def __str__(self) -> str:
        return self.number

    def save(self, *args, **kwargs) -> None:
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "changed_at"}
        super().save(*args, **kwargs)

    @property
    def owner(self):
        """The user who looks after the customer."""
        return self.customer.owner

    def again(self, lines: list[OrderLine]) -> Order:
        """Place a new order of these lines, at today's prices."""
        with transaction.atomic():
            order = Order.objects.create(customer=self.customer)
            OrderLine.objects.bulk_create(
                OrderLine(
                    order=order,
                    product=line.product,
                    quantity=line.quantity,
                    unit_price=line.product.price,
                )
                for line in lines
            )
        return order

    @property
    def total(self) -> Decimal:
        """The sum of the lines."""
        return sum((line.subtotal for line in self.lines.all()), Decimal("0.00"))


class OrderLine(models.Model):
    """One product of an order, at the price it had when the order was placed."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+")
    quantity = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    unit_price = models.DecimalField(max_digits=8, decimal_places=2)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}"

    @property
    def subtotal(self) -> Decimal:
        """Price times quantity."""
        return self.quantity * self.unit_price


class ExchangeRate(models.Model):
    """What one euro is worth in another currency, as last fetched from the bank."""

    currency = models.CharField(max_length=3, unique=True, help_text="ISO 4217, such as USD.")
    rate = models.DecimalField(max_digits=10, decimal_places=4)
    fetched_at = models.DateTimeField()

    class Meta:
        ordering = ["currency"]

    def __str__(self) -> str:
        return self.currency


class Ticket(models.Model):
    """A question or a complaint of a customer."""

    class Priority(models.IntegerChoices):
        LOW = 1, "Low"
        NORMAL = 2, "Normal"
        HIGH = 3, "High"
        URGENT = 4, "Urgent"

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        WAITING = "waiting", "Waiting for the customer"
        CLOSED = "closed", "Closed"

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="tickets")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tickets"
    )
    subject = models.CharField(max_length=150)
    body = models.TextField()
    priority = models.PositiveSmallIntegerField(choices=Priority.choices, default=Priority.NORMAL)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created", "id"]

    def __str__(self) -> str:
        return self.subject
