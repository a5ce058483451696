"""What a baby did all day, after the API and the manual of Baby Buddy 2.9."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter

from benchmarks.agents.domains.making import ObjectViewSet, make_serializer, make_urls


class Child(models.Model):
    first_name = models.CharField(max_length=255, verbose_name="First name")
    last_name = models.CharField(blank=True, max_length=255, verbose_name="Last name")
    birth_date = models.DateField(verbose_name="Birth date")
    birth_time = models.TimeField(blank=True, null=True, verbose_name="Birth time")
    slug = models.SlugField(unique=True, editable=False)
    picture = models.ImageField(blank=True, null=True, upload_to="child/picture/")

    class Meta:
        verbose_name_plural = "Children"


class Entry(models.Model):
    child = models.ForeignKey(Child, models.CASCADE)
    notes = models.TextField(blank=True, verbose_name="Notes")

    class Meta:
        abstract = True


class Measured(Entry):
    date = models.DateField(default=timezone.localdate, verbose_name="Date")

    class Meta:
        abstract = True


class Timed(Entry):
    start = models.DateTimeField(default=timezone.now, verbose_name="Start time")
    end = models.DateTimeField(default=timezone.now, verbose_name="End time")
    duration = models.DurationField(editable=False, null=True, verbose_name="Duration")

    class Meta:
        abstract = True


class BMI(Measured):
    bmi = models.FloatField(verbose_name="BMI")

    class Meta:
        verbose_name = verbose_name_plural = "BMI"


class DiaperChange(Entry):
    time = models.DateTimeField(default=timezone.now, verbose_name="Time")
    wet = models.BooleanField(verbose_name="Wet")
    solid = models.BooleanField(verbose_name="Solid")
    color = models.CharField(
        blank=True,
        choices=[(name.lower(), name) for name in ("Black", "Brown", "Green", "Yellow")],
        max_length=255,
        verbose_name="Color",
    )
    amount = models.FloatField(blank=True, null=True, verbose_name="Amount")

    class Meta:
        verbose_name = "Diaper Change"


class Feeding(Timed):
    type = models.CharField(
        choices=[(name.lower(), name) for name in ("Breast milk", "Formula", "Solid food")],
        max_length=255,
        verbose_name="Type",
    )
    method = models.CharField(
        choices=[
            (name.lower(), name)
            for name in ("Bottle", "Left breast", "Right breast", "Parent fed", "Self fed")
        ],
        max_length=255,
        verbose_name="Method",
    )
    amount = models.FloatField(blank=True, null=True, verbose_name="Amount")


class HeadCircumference(Measured):
    head_circumference = models.FloatField(verbose_name="Head Circumference")

    class Meta:
        verbose_name = verbose_name_plural = "Head Circumference"


class Height(Measured):
    height = models.FloatField(verbose_name="Height")

    class Meta:
        verbose_name_plural = "Height"


class MedicationGiven(Entry):
    name = models.CharField(
        max_length=255,
        verbose_name="Medication Name",
        help_text="Name of the medication administered",
    )
    dosage = models.FloatField(
        blank=True, null=True, verbose_name="Dosage", help_text="Amount of medication given"
    )
    dosage_unit = models.CharField(
        max_length=20,
        choices=[("mg", "MG"), ("ml", "ML"), ("tablets", "Tablets"), ("drops", "Drops")],
        blank=True,
        verbose_name="Dosage Unit",
    )
    time = models.DateTimeField(default=timezone.now, verbose_name="Time Taken")

    class Meta:
        verbose_name = verbose_name_plural = "Medication"


class ChildNote(models.Model):
    child = models.ForeignKey(Child, models.CASCADE, related_name="note")
    note = models.TextField(verbose_name="Note")
    time = models.DateTimeField(default=timezone.now, verbose_name="Time")
    image = models.ImageField(blank=True, null=True, upload_to="notes/images/")

    class Meta:
        verbose_name = "Note"


class Pumping(Timed):
    amount = models.FloatField(verbose_name="Amount")

    class Meta:
        verbose_name_plural = "Pumping"


class Sleep(Timed):
    nap = models.BooleanField(blank=True, verbose_name="Nap")

    class Meta:
        verbose_name_plural = "Sleep"


class Temperature(Entry):
    temperature = models.FloatField(verbose_name="Temperature")
    time = models.DateTimeField(default=timezone.now, verbose_name="Time")

    class Meta:
        verbose_name_plural = "Temperature"


class Timer(models.Model):
    child = models.ForeignKey(Child, models.CASCADE, blank=True, null=True)
    name = models.CharField(blank=True, max_length=255, verbose_name="Name")
    start = models.DateTimeField(default=timezone.now, verbose_name="Start time")
    active = models.BooleanField(default=True, editable=False, verbose_name="Active")


class TummyTime(Timed):
    milestone = models.CharField(blank=True, max_length=255, verbose_name="Milestone")

    class Meta:
        verbose_name = verbose_name_plural = "Tummy Time"


class BodyWeight(Measured):
    weight = models.FloatField(verbose_name="Weight")

    class Meta:
        verbose_name = verbose_name_plural = "Weight"


def make_viewset(of: type[models.Model], *filters: str, **members) -> type[ObjectViewSet]:
    ways = ["gte", "lte"]
    fields = {name: ways if name in ("start", "end", "time") else ["exact"] for name in filters}
    own = {
        "queryset": of.objects.order_by("-pk"),
        "serializer_class": make_serializer(of),
        "filter_backends": [DjangoFilterBackend, OrderingFilter],
        "filterset_fields": fields,
    }
    return type(f"{of.__name__}ViewSet", (ObjectViewSet,), own | members)


@action(detail=True, methods=["patch"])
def restart(self, request, pk=None):
    return self.change(start=timezone.now())


urlpatterns = make_urls(
    ("bmi", make_viewset(BMI, "child", "date")),
    ("changes", make_viewset(DiaperChange, "child", "time", "wet", "solid", "color", "amount")),
    (
        "children",
        make_viewset(Child, "first_name", "last_name", "birth_date", lookup_field="slug"),
    ),
    ("feedings", make_viewset(Feeding, "child", "start", "end", "type", "method")),
    ("head-circumference", make_viewset(HeadCircumference, "child", "date")),
    ("height", make_viewset(Height, "child", "date")),
    ("medication", make_viewset(MedicationGiven, "child", "time", "name", "dosage_unit")),
    ("notes", make_viewset(ChildNote, "child", "time")),
    ("pumping", make_viewset(Pumping, "child", "start", "end")),
    ("sleep", make_viewset(Sleep, "child", "start", "end")),
    ("temperature", make_viewset(Temperature, "child", "time")),
    ("timers", make_viewset(Timer, "child", "start", "name", restart=restart)),
    ("tummy-times", make_viewset(TummyTime, "child", "start", "end")),
    ("weight", make_viewset(BodyWeight, "child", "date")),
)
