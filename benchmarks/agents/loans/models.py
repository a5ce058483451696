"""Books, their copies at branches, the members who borrow them."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone

LOAN_DAYS = 28


def due_date():
    return timezone.localdate() + timedelta(days=LOAN_DAYS)


class Branch(models.Model):
    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=40, unique=True)
    city = models.CharField(max_length=60)
    email = models.EmailField()
    homepage = models.URLField(blank=True)
    opens = models.TimeField()
    closes = models.TimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Author(models.Model):
    name = models.CharField(max_length=120)
    born = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Year of birth.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Book(models.Model):
    class Language(models.TextChoices):
        ENGLISH = "en", "English"
        GERMAN = "de", "German"
        FRENCH = "fr", "French"
        SPANISH = "es", "Spanish"

    isbn = models.CharField(
        max_length=13, unique=True, validators=[RegexValidator(r"^97[89]\d{10}\Z")]
    )
    title = models.CharField(max_length=200)
    authors = models.ManyToManyField(Author, related_name="books")
    language = models.CharField(max_length=2, choices=Language.choices, default=Language.ENGLISH)
    published = models.DateField(null=True, blank=True)
    pages = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    replacement_cost = models.DecimalField(max_digits=6, decimal_places=2)
    summary = models.TextField(blank=True)
    cover = models.ImageField(upload_to="covers", blank=True)

    class Meta:
        ordering = ["title", "id"]

    def __str__(self) -> str:
        return self.title


class Copy(models.Model):
    class Condition(models.IntegerChoices):
        NEW = 1, "As new"
        GOOD = 2, "Good"
        WORN = 3, "Worn"
        DAMAGED = 4, "Damaged"

    book = models.ForeignKey(Book, on_delete=models.PROTECT, related_name="copies")
    branch = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="copies")
    barcode = models.CharField(
        max_length=10, unique=True, validators=[RegexValidator(r"^LIB-\d{6}$")]
    )
    condition = models.PositiveSmallIntegerField(choices=Condition.choices, default=Condition.GOOD)
    reference_only = models.BooleanField(default=False, help_text="Cannot be taken home.")
    acquired = models.DateField(default=timezone.localdate)

    class Meta:
        ordering = ["barcode"]
        verbose_name_plural = "copies"

    def __str__(self) -> str:
        return self.barcode


class Member(models.Model):
    class Kind(models.TextChoices):
        ADULT = "adult", "Adult"
        CHILD = "child", "Child"
        STUDENT = "student", "Student"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    card_number = models.CharField(
        max_length=8, unique=True, validators=[RegexValidator(r"^M\d{7}$")]
    )
    name = models.CharField(max_length=120)
    email = models.EmailField(unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.ADULT)
    home_branch = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="members")
    joined = models.DateField(default=timezone.localdate)
    blocked = models.BooleanField(default=False)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Loan(models.Model):
    copy = models.ForeignKey(Copy, on_delete=models.PROTECT, related_name="loans")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="loans")
    borrowed_at = models.DateTimeField(default=timezone.now)
    due = models.DateField(default=due_date)
    returned_at = models.DateTimeField(null=True, blank=True)
    renewals = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-borrowed_at", "id"]

    def __str__(self) -> str:
        return f"{self.copy} to {self.member}"


class Hold(models.Model):
    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting for a copy"
        READY = "ready", "Ready for collection"
        COLLECTED = "collected", "Collected"
        EXPIRED = "expired", "Not collected in time"

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="holds")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="holds")
    pickup = models.ForeignKey(Branch, on_delete=models.PROTECT, related_name="holds")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    placed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["placed_at", "id"]

    def __str__(self) -> str:
        return f"{self.book} for {self.member}"


class Fine(models.Model):
    class Reason(models.TextChoices):
        LATE = "late", "Returned late"
        DAMAGED = "damaged", "Returned damaged"
        LOST = "lost", "Lost"

    loan = models.ForeignKey(Loan, on_delete=models.CASCADE, related_name="fines")
    amount = models.DecimalField(max_digits=6, decimal_places=2, validators=[MinValueValidator(0)])
    reason = models.CharField(max_length=10, choices=Reason.choices)
    paid_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.amount} of {self.loan}"
