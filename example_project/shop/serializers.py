"""The serializers of the shop's API."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from rest_framework import serializers
from rest_framework.validators import UniqueTogetherValidator

from example_project.shop.models import Customer, ExchangeRate, Order, OrderLine, Product, Ticket


class OwnerDefault(serializers.CurrentUserDefault):
    """The user of the request; on an update, the present owner."""

    def __call__(self, serializer_field):
        instance = serializer_field.parent.instance
        return instance.owner if instance else super().__call__(serializer_field)


class CustomerSerializer(serializers.ModelSerializer):
    """A customer of the user who asks."""

    owner = serializers.HiddenField(default=OwnerDefault())
    owned_by = serializers.SlugRelatedField(
        source="owner", slug_field="username", read_only=True, help_text="Who looks after them."
    )

    class Meta:
        model = Customer
        fields = [
            "id",
            "owner",
            "owned_by",
            "name",
            "email",
            "tier",
            "country",
            "joined",
            "is_active",
        ]
        read_only_fields = ["is_active"]
        validators = [
            UniqueTogetherValidator(
                Customer.objects.all(),
                fields=["owner", "email"],
                message="You already have a customer with this e-mail address.",
            )
        ]


class CustomerSummarySerializer(serializers.Serializer):
    """A customer in figures."""

    orders = serializers.IntegerField(help_text="Orders ever placed.")
    unfinished_orders = serializers.IntegerField(help_text="Orders neither shipped nor ended.")
    spent = serializers.DecimalField(max_digits=12, decimal_places=2)
    last_order_at = serializers.DateTimeField(allow_null=True)
    open_tickets = serializers.IntegerField()


class ProductSerializer(serializers.ModelSerializer):
    """A product of the catalogue."""

    in_stock = serializers.SerializerMethodField()
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Product
        fields = [
            "name",
            "slug",
            "sku",
            "category",
            "price",
            "stock",
            "in_stock",
            "tags",
            "released",
            "description",
        ]

    def get_in_stock(self, product: Product) -> bool:
        """True if it can be shipped today."""
        return product.stock > 0


class ProductPriceSerializer(serializers.ModelSerializer):
    """What a product costs and how many there are."""

    class Meta:
        model = Product
        fields = ["name", "slug", "price", "stock"]
        read_only_fields = ["name", "slug", "stock"]


class ProductLookupSerializer(serializers.Serializer):
    """Which products to show."""

    slugs = serializers.ListField(child=serializers.SlugField(), min_length=1, max_length=20)


class OwnCustomerField(serializers.PrimaryKeyRelatedField):
    """A customer that the user who asks may see."""

    def get_queryset(self):
        return Customer.objects.visible_to(self.context["request"].user)


class OrderLineSerializer(serializers.ModelSerializer):
    """One product of an order, named by its slug."""

    product = serializers.SlugRelatedField(slug_field="slug", queryset=Product.objects.all())
    product_name = serializers.CharField(source="product.name", read_only=True)
    quantity = serializers.IntegerField(min_value=1, max_value=100)
    subtotal = serializers.DecimalField(max_digits=10, decimal_places=2, read_only=True)

    class Meta:
        model = OrderLine
        fields = ["product", "product_name", "quantity", "unit_price", "subtotal"]
        read_only_fields = ["unit_price"]

    def validate(self, attrs):
        # An update of an order replaces all of its lines, so each line has to be complete.
        missing = [name for name in ("product", "quantity") if name not in attrs]
        if missing:
            message = self.fields[missing[0]].error_messages["required"]
            raise serializers.ValidationError(dict.fromkeys(missing, message), code="required")
        product, quantity = attrs["product"], attrs["quantity"]
        if quantity > product.stock:
            message = f"Only {product.stock} of {product.slug} are in stock."
            raise serializers.ValidationError({"quantity": message}, code="out_of_stock")
        return attrs


class OrderSerializer(serializers.ModelSerializer):
    """An order with its lines; prices are taken from the catalogue."""

    url = serializers.HyperlinkedIdentityField(view_name="order-detail")
    customer = OwnCustomerField(help_text="Id of one of your customers.")
    status_label = serializers.CharField(source="get_status_display", read_only=True)
    lines = OrderLineSerializer(many=True, allow_empty=False)
    total = serializers.DecimalField(max_digits=12, decimal_places=2, read_only=True)
    pay_now = serializers.BooleanField(
        write_only=True, default=False, help_text="True: the order is paid for already."
    )

    class Meta:
        model = Order
        fields = [
            "id",
            "url",
            "number",
            "customer",
            "status",
            "status_label",
            "placed_at",
            "note",
            "lines",
            "total",
            "refunded_amount",
            "pay_now",
        ]
        read_only_fields = ["number", "status", "placed_at", "refunded_amount"]

    @transaction.atomic
    def create(self, validated_data):
        lines = validated_data.pop("lines")
        order = super().create(self.paid(validated_data))
        self.write_lines(order, lines)
        return order

    @transaction.atomic
    def update(self, instance, validated_data):
        lines = validated_data.pop("lines", None)
        order = super().update(instance, self.paid(validated_data))
        if lines is not None:
            order.lines.all().delete()
            self.write_lines(order, lines)
        return order

    def paid(self, validated_data):
        """Turn ``pay_now`` into the status of the order."""
        if validated_data.pop("pay_now", False):
            validated_data["status"] = Order.Status.PAID
        return validated_data

    def write_lines(self, order: Order, lines) -> None:
        """Store the lines at today's prices."""
        OrderLine.objects.bulk_create(
            OrderLine(order=order, unit_price=line["product"].price, **line) for line in lines
        )


class CustomerOrderSerializer(OrderSerializer):
    """An order of the customer whom the path names."""

    customer = serializers.PrimaryKeyRelatedField(read_only=True)


class ExportSerializer(serializers.Serializer):
    """Orders in one text."""

    orders = serializers.IntegerField(help_text="How many there are.")
    csv = serializers.CharField(help_text="A line for each order, below the names of the columns.")


class RefundSerializer(serializers.Serializer):
    """Why and how much to give back."""

    REASONS = [
        ("damaged", "Arrived damaged"),
        ("late", "Arrived too late"),
        ("changed_mind", "The customer changed their mind"),
        ("other", "Something else"),
    ]

    reason = serializers.ChoiceField(choices=REASONS)
    amount = serializers.DecimalField(
        max_digits=10,
        decimal_places=2,
        min_value=Decimal("0.01"),
        required=False,
        help_text="At most the order's total, which is also what is refunded when left out.",
    )

    def validate_amount(self, amount: Decimal) -> Decimal:
        if amount > self.instance.total:
            message = f"The order came to {self.instance.total}; no more can be refunded."
            raise serializers.ValidationError(message, code="max_value")
        return amount

    def update(self, instance: Order, validated_data) -> Order:
        instance.status = Order.Status.REFUNDED
        instance.refund_reason = validated_data["reason"]
        instance.refunded_amount = validated_data.get("amount", instance.total)
        instance.save(update_fields=["status", "refund_reason", "refunded_amount"])
        return instance


class TicketSerializer(serializers.ModelSerializer):
    """A question or a complaint of a customer."""

    customer = OwnCustomerField(help_text="Id of one of your customers.")
    opened_by = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = Ticket
        fields = ["id", "customer", "opened_by", "subject", "body", "priority", "status", "created"]


class QuoteSerializer(serializers.Serializer):
    """What a number of pieces would cost."""

    product = serializers.SlugRelatedField(
        slug_field="slug", queryset=Product.objects.all(), help_text="The product's slug."
    )
    quantity = serializers.IntegerField(min_value=1, max_value=1000, default=1)
    customer = OwnCustomerField(
        required=False, help_text="Id of one of your customers, whose tier decides the discount."
    )
    tier = serializers.ChoiceField(
        choices=Customer.Tier.choices,
        required=False,
        help_text="Deprecated: name the customer instead.",
    )
    currency = serializers.SlugRelatedField(
        slug_field="currency",
        queryset=ExchangeRate.objects.all(),
        required=False,
        help_text="Currency of the prices, such as USD; euros when left out.",
    )
    ship_to = serializers.RegexField(
        r"^[A-Z]{2}$",
        required=False,
        help_text="Country to ship to, ISO 3166-1, such as DE; without it shipping is left out.",
    )
