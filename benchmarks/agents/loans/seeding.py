"""The same branches, books, members, loans, holds and fines on every machine."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token

from benchmarks.agents.loans.models import Author, Book, Branch, Copy, Fine, Hold, Loan, Member

# Dates are fixed: no row depends on the day of seeding.
DAY = date(2026, 3, 2)
BRANCHES = [("Central Library", "central", "Leeds"), ("Harbour Branch", "harbour", "Hull")]
BRANCHES += [("Mill Lane", "mill-lane", "Leeds"), ("Station Road", "station-road", "York")]
AUTHORS = ["Jane Austen", "Franz Kafka", "Victor Hugo", "Mary Shelley", "Miguel de Cervantes"]
AUTHORS += ["Thomas Mann", "George Eliot", "Charlotte Brontë"]
# Title, author, language, pages.
BOOKS = [
    ("Emma", 0, "en", 474),
    ("Persuasion", 0, "en", 249),
    ("Pride and Prejudice", 0, "en", 432),
    ("Das Schloss", 1, "de", 352),
    ("Der Prozess", 1, "de", 240),
    ("Les Misérables", 2, "fr", 1462),
    ("Frankenstein", 3, "en", 280),
    ("The Last Man", 3, "en", 479),
    ("Don Quijote", 4, "es", 1023),
    ("Buddenbrooks", 5, "de", 759),
    ("Der Zauberberg", 5, "de", 1002),
    ("Middlemarch", 6, "en", 880),
    ("Silas Marner", 6, "en", 208),
    ("Jane Eyre", 7, "en", 532),
    ("Villette", 7, "en", 490),
]
GIVEN = ["Ada", "Ben", "Cleo", "Dev", "Eva", "Finn", "Gita", "Hugo", "Iris", "Jon"]
FAMILY = ["Moss", "Okafor", "Reyes", "Sato"]
LOANS = 60


def seed_loans() -> None:
    mara = User.objects.create_user("mara", is_staff=True)
    tom = User.objects.create_user("tom")
    for user in (mara, tom):
        Token.objects.create(user=user)
    branches = [Branch.objects.create(**branch_fields(*row)) for row in BRANCHES]
    authors = [Author.objects.create(name=name) for name in AUTHORS]
    books = [make_book(number, authors, *row) for number, row in enumerate(BOOKS)]
    copies = [make_copy(n, books[n % len(books)], branches[n % 4]) for n in range(45)]
    names = [f"{given} {family}" for family in FAMILY for given in GIVEN]
    members = [make_member(n, name, branches[n % 4]) for n, name in enumerate(names)]
    members[0].user = tom
    members[0].save()
    loans = [make_loan(n, copies, members) for n in range(LOANS)]
    for number, loan in enumerate(loans[:20:2]):
        paid = DAY if number % 2 else None
        Fine.objects.create(loan=loan, amount=Decimal("1.50") * (number + 1), reason="late",
                            paid_on=paid)  # fmt: skip
    for number in range(8):
        Hold.objects.create(book=books[number], member=members[number // 2], pickup=branches[0])


def branch_fields(name: str, slug: str, city: str) -> dict:
    contact = {"email": f"{slug}@library.example", "homepage": f"https://library.example/{slug}"}
    hours = {"opens": time(9), "closes": time(18, 30)}
    return {"name": name, "slug": slug, "city": city, **contact, **hours}


def make_book(number: int, authors, title: str, author: int, language: str, pages: int) -> Book:
    book = Book.objects.create(
        isbn=f"978{number:010}",
        title=title,
        language=language,
        pages=pages,
        published=date(1990 + number * 2, 5, 1),
        replacement_cost=Decimal("9.90") + number,
        summary=f"{title}, a novel by {authors[author].name}.",
    )
    book.authors.add(authors[author])
    return book


def make_copy(number: int, book: Book, branch: Branch) -> Copy:
    return Copy.objects.create(
        book=book,
        branch=branch,
        barcode=f"LIB-{number:06}",
        condition=1 + number % 4,
        reference_only=number % 15 == 14,
        acquired=DAY - timedelta(days=number * 30),
    )


def make_member(number: int, name: str, branch: Branch) -> Member:
    return Member.objects.create(
        card_number=f"M{number:07}",
        name=name,
        email=f"{name.lower().replace(' ', '.')}@mail.example",
        kind=["adult", "adult", "student", "child"][number % 4],
        home_branch=branch,
        joined=DAY - timedelta(days=number * 20),
        blocked=number % 13 == 12,
    )


def make_loan(number: int, copies, members) -> Loan:
    """Return a loan; of each copy at most the last is still out."""
    borrowed = datetime.combine(DAY, time(10), UTC) + timedelta(days=number)
    out = number >= len(copies) - 5
    return Loan.objects.create(
        copy=copies[number % len(copies)],
        member=members[number % len(members)],
        borrowed_at=borrowed,
        due=borrowed.date() + timedelta(days=28),
        returned_at=None if out else borrowed + timedelta(days=number % 40 + 1),
    )
