"""Fill an empty shop."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import Permission, User
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils.text import slugify
from rest_framework.authtoken.models import Token

from example_project.library.corpus import seed_library
from example_project.shop import sample_data
from example_project.shop.models import Customer, ExchangeRate, Order, OrderLine, Product, Ticket

# The users with their flags. The password of each user is the user name.
USERS = {
    "alice": {},
    "bob": {},
    "carol": {"is_staff": True},
    "admin": {"is_staff": True, "is_superuser": True},
}
CAROL_MAY = ["view_order", "change_order"]
# A permission of the app of rules: carol approves refunds above 500.
CAROL_APPROVES = "approve_proposal"

# Number of customers each user looks after.
CUSTOMERS = {"alice": 30, "bob": 22, "carol": 8}
ORDERS = 120
TICKETS = 40

# All dates are counted from this day, so that the rows do not depend on the day of seeding.
LAST_DAY = date(2026, 10, 31)
STATUSES = {"pending": 15, "paid": 20, "shipped": 50, "cancelled": 8, "refunded": 7}


def seed_users() -> dict[str, User]:
    """Make the users and tokens that are missing, and return all users."""
    users = {}
    for name, flags in USERS.items():
        user, created = User.objects.get_or_create(username=name, defaults=flags)
        if created:
            user.email = f"{name}@shop.example"
            user.set_password(name)
            user.save()
        Token.objects.get_or_create(user=user)
        users[name] = user
    allowed = Permission.objects.filter(content_type__app_label="shop", codename__in=CAROL_MAY)
    users["carol"].user_permissions.add(*allowed)
    users["carol"].user_permissions.add(*Permission.objects.filter(codename=CAROL_APPROVES))
    return users


def seed_exchange_rates() -> None:
    """Make the rates that are missing, which no job of the demo renews."""
    fetched_at = datetime.combine(LAST_DAY, datetime.min.time(), UTC)
    for currency, rate in sample_data.EXCHANGE_RATES.items():
        defaults = {"rate": Decimal(rate), "fetched_at": fetched_at}
        ExchangeRate.objects.get_or_create(currency=currency, defaults=defaults)


class Command(BaseCommand):
    """The same users, products, customers, orders and tickets on every machine."""

    help = "Fill an empty shop: alice, bob, carol (staff), admin; each one's password is the name."

    @transaction.atomic
    def handle(self, *args, **options) -> None:
        users = seed_users()
        seed_library()
        seed_exchange_rates()
        if Product.objects.exists():
            self.tell("The shop is filled already; nothing changed.", options)
            return
        # A fixed seed makes the same shop each time; nothing secret is drawn.
        self.random = random.Random(2026)  # nosec B311
        products = self.seed_products()
        customers = self.seed_customers(users)
        self.seed_orders(customers, products)
        self.seed_tickets(customers, products)
        self.tell("The shop is filled.", options)

    def tell(self, message: str, options) -> None:
        if options["verbosity"]:
            self.stdout.write(message)

    def seed_products(self) -> list[Product]:
        products = [
            self.product(category, number, name, price)
            for category, items in sample_data.PRODUCTS.items()
            for number, (name, price) in enumerate(items, start=1)
        ]
        return Product.objects.bulk_create(products)

    def product(self, category: str, number: int, name: str, price: str) -> Product:
        released = self.random.random() > 0.1
        return Product(
            name=name,
            slug=slugify(name),
            sku=f"{category[:3].upper()}-{number:04}",
            category=category,
            price=Decimal(price),
            stock=self.random.choice([0, 3, 12, 25, 40, 80, 120]),
            description="\n\n".join(sample_data.DESCRIPTIONS[category]),
            tags=sorted(self.random.sample(sample_data.TAGS, self.random.randint(0, 3))),
            released=self.day(900) if released else None,
        )

    def seed_customers(self, users: dict[str, User]) -> list[Customer]:
        names = [(f, s) for f in sample_data.FIRST_NAMES for s in sample_data.LAST_NAMES]
        owners = [users[name] for name, count in CUSTOMERS.items() for _ in range(count)]
        chosen = self.random.sample(names, len(owners))
        return Customer.objects.bulk_create(
            self.customer(owner, *name) for owner, name in zip(owners, chosen, strict=True)
        )

    def customer(self, owner: User, first: str, last: str) -> Customer:
        return Customer(
            owner=owner,
            name=f"{first} {last}",
            email=f"{slugify(first)}.{slugify(last)}@mail.example",
            tier=self.random.choice(["standard", "standard", "standard", "silver", "gold"]),
            country=self.random.choice(sample_data.COUNTRIES),
            joined=self.day(1000),
            is_active=self.random.random() > 0.1,
        )

    def seed_orders(self, customers: list[Customer], products: list[Product]) -> None:
        orders = Order.objects.bulk_create(
            self.order(number, customers) for number in range(1, ORDERS + 1)
        )
        lines = [line for order in orders for line in self.lines(order, products)]
        OrderLine.objects.bulk_create(lines)
        for order in orders:
            if order.status == Order.Status.REFUNDED:
                order.refunded_amount, order.refund_reason = order.total, "damaged"
                order.save()

    def order(self, number: int, customers: list[Customer]) -> Order:
        return Order(
            customer=self.random.choice(customers),
            number=f"S-{number:05}",
            status=self.random.choices(list(STATUSES), weights=STATUSES.values())[0],
            placed_at=self.moment(300),
            note=self.random.choice(sample_data.ORDER_NOTES),
        )

    def lines(self, order: Order, products: list[Product]) -> list[OrderLine]:
        chosen = self.random.sample(products, self.random.randint(1, 4))
        return [
            OrderLine(
                order=order,
                product=product,
                quantity=self.random.randint(1, 3),
                unit_price=product.price,
            )
            for product in chosen
        ]

    def seed_tickets(self, customers: list[Customer], products: list[Product]) -> None:
        Ticket.objects.bulk_create(self.ticket(customers, products) for _ in range(TICKETS))

    def ticket(self, customers: list[Customer], products: list[Product]) -> Ticket:
        customer = self.random.choice(customers)
        product = self.random.choice(products).name
        subject, body = self.random.choice(sample_data.TICKETS)
        return Ticket(
            customer=customer,
            opened_by=customer.owner,
            subject=subject.format(product=product),
            body=body.format(product=product),
            priority=self.random.randint(1, 4),
            status=self.random.choice(["open", "open", "waiting", "closed"]),
            created=self.moment(60),
        )

    def day(self, within: int) -> date:
        return LAST_DAY - timedelta(days=self.random.randrange(within))

    def moment(self, within: int) -> datetime:
        midnight = datetime.combine(self.day(within), datetime.min.time(), UTC)
        return midnight + timedelta(seconds=self.random.randrange(86_400))
