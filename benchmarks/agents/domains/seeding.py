"""A few rows of three domains, for tasks of several steps."""

from __future__ import annotations

from datetime import UTC, date, datetime

from benchmarks.agents.domains import models

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def seed_domains() -> None:
    seed_helpdesk()
    seed_boxoffice()
    seed_warehouse()


def seed_helpdesk() -> None:
    network, desk = (models.Team.objects.create(name=name) for name in ("Network", "Service desk"))
    for name, team in (("Jana Novak", network), ("Piet Visser", desk)):
        email = f"{name.split()[0].lower()}@desk.example"
        models.Agent.objects.create(name=name, email=email, team=team)
    people = ["Lena Brandt", "Omar Haddad", "Sofia Rossi"]
    contacts = [
        models.Contact.objects.create(name=name, email=f"{name.split()[0].lower()}@mill.example")
        for name in people
    ]
    subjects = ["Printer jams", "VPN drops every hour", "VPN is down again", "New keyboard"]
    for number, subject in enumerate(subjects):
        models.Ticket.objects.create(
            subject=subject,
            description="Since this morning.",
            requester=contacts[number % 3],
            created_at=NOON.replace(hour=8 + number),
        )


def seed_boxoffice() -> None:
    hall = models.Venue.objects.create(name="Great Hall", city="Leeds", capacity=400)
    for number, name in enumerate(("Jazz Night", "Spring Gala")):
        event = models.Event.objects.create(
            name=name, venue=hall, starts_at=NOON.replace(day=10 + number), status="on_sale"
        )
        stalls = models.PriceCategory.objects.create(
            event=event, name="Stalls", price="24.00", quota=200
        )
        for buyer in ("Chidi Okafor", "Ines Prado"):
            booking = models.Booking.objects.create(
                event=event,
                category=stalls,
                buyer_name=buyer,
                buyer_email=f"{buyer.split()[1].lower()}@mail.example",
                status="paid",
            )
            code = f"{name[:2]}{buyer[:2]}".upper()
            models.EventTicket.objects.create(booking=booking, code=code, holder_name=buyer)


def seed_warehouse() -> None:
    bins = [models.Location.objects.create(code=code) for code in ("A1-02", "B4-01")]
    supplier = models.Supplier.objects.create(name="Northgate Supplies")
    for sku, name in (("GL-1", "Work gloves"), ("PT-7", "White paint"), ("SC-3", "Wood screws")):
        item = models.Item.objects.create(sku=sku, name=name, price="4.50", minimum_stock=20)
        supplier.items.add(item)
        models.Stock.objects.create(item=item, location=bins[0], quantity=15)
        models.Lot.objects.create(item=item, number=f"{sku}-26", expires_on=DAY)
        models.PurchaseOrder.objects.create(
            supplier=supplier, item=item, quantity=50, expected_on=DAY, status="sent"
        )
