"""A medical practice: patients, appointments, findings, prescriptions and bills."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import SearchFilter
from rest_framework.response import Response

from benchmarks.agents.domains.making import ObjectViewSet, make_serializer, make_urls, step


class Patient(models.Model):
    first_name = models.CharField(max_length=60)
    last_name = models.CharField(max_length=60)
    birth_date = models.DateField()
    address = models.CharField(max_length=200, blank=True)
    phone = models.CharField(max_length=30, blank=True)
    insurance_number = models.CharField(max_length=30, blank=True)


class Practitioner(models.Model):
    name = models.CharField(max_length=80)
    speciality = models.CharField(max_length=60)


class Shift(models.Model):
    practitioner = models.ForeignKey(Practitioner, on_delete=models.CASCADE)
    day = models.DateField()
    starts = models.TimeField()
    ends = models.TimeField()


class Appointment(models.Model):
    class Status(models.TextChoices):
        BOOKED = "booked", "Booked"
        CHECKED_IN = "checked_in", "Checked in"
        FULFILLED = "fulfilled", "Fulfilled"
        NO_SHOW = "no_show", "Did not attend"
        CANCELLED = "cancelled", "Cancelled"

    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    practitioner = models.ForeignKey(Practitioner, on_delete=models.CASCADE)
    starts_at = models.DateTimeField()
    reason = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.BOOKED)


class Encounter(models.Model):
    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    practitioner = models.ForeignKey(Practitioner, on_delete=models.CASCADE)
    date = models.DateField(default=timezone.localdate)
    notes = models.TextField(help_text="Clinical notes of the consultation.")


class Allergy(models.Model):
    class Severity(models.TextChoices):
        MILD = "mild", "Mild"
        SEVERE = "severe", "Severe"

    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    substance = models.CharField(max_length=80)
    reaction = models.CharField(max_length=120, blank=True)
    severity = models.CharField(max_length=6, choices=Severity.choices)

    class Meta:
        verbose_name_plural = "allergies"


class Prescription(models.Model):
    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        STOPPED = "stopped", "Stopped"
        EXPIRED = "expired", "Expired"

    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    medication = models.CharField(max_length=120)
    dosage = models.CharField(max_length=80)
    until = models.DateField(null=True, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)


class LabOrder(models.Model):
    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    test = models.CharField(max_length=80)
    ordered_at = models.DateTimeField(auto_now_add=True)


class LabResult(models.Model):
    order = models.ForeignKey(LabOrder, on_delete=models.CASCADE, related_name="results")
    value = models.CharField(max_length=40)
    unit = models.CharField(max_length=20)
    is_abnormal = models.BooleanField(default=False)
    reported_at = models.DateTimeField()


class Referral(models.Model):
    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    speciality = models.CharField(max_length=60)
    reason = models.TextField()


class Vaccination(models.Model):
    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    vaccine = models.CharField(max_length=80)
    given_on = models.DateField()
    next_due_on = models.DateField(null=True, blank=True)


class Measurement(models.Model):
    class Kind(models.TextChoices):
        WEIGHT = "weight", "Body weight"
        PRESSURE = "bp", "Blood pressure"
        TEMPERATURE = "temp", "Temperature"

    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    value = models.CharField(max_length=20)
    taken_at = models.DateTimeField(default=timezone.now)


class Invoice(models.Model):
    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        ISSUED = "issued", "Issued"
        PAID = "paid", "Paid"

    patient = models.ForeignKey(Patient, on_delete=models.CASCADE)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.ISSUED)
    issued_on = models.DateField(default=timezone.localdate)


class Reschedule(serializers.Serializer):
    starts_at = serializers.DateTimeField()


class Payment(serializers.Serializer):
    amount = serializers.DecimalField(max_digits=8, decimal_places=2)
    method = serializers.ChoiceField(["cash", "card", "transfer"])


class PatientViewSet(ObjectViewSet):
    queryset = Patient.objects.order_by("last_name", "id")
    serializer_class = make_serializer(Patient)
    filter_backends = [DjangoFilterBackend, SearchFilter]
    filterset_fields = ["birth_date", "insurance_number"]
    search_fields = ["first_name", "last_name"]


class AllergyViewSet(viewsets.ModelViewSet):
    serializer_class = make_serializer(Allergy, ["id", "substance", "reaction", "severity"])
    queryset = Allergy.objects.order_by("id")
    http_method_names = ["get", "post", "delete"]

    def get_queryset(self):
        return self.queryset.filter(patient=self.kwargs["patient_pk"])

    def perform_create(self, serializer):
        serializer.save(patient_id=self.kwargs["patient_pk"])


class PractitionerViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Practitioner.objects.order_by("id")
    serializer_class = make_serializer(Practitioner)

    @action(detail=True, url_path="free-slots")
    def free_slots(self, request, pk=None):
        """Open slots of the practitioner's calendar."""
        return Response([])


class ShiftViewSet(ObjectViewSet):
    queryset = Shift.objects.order_by("day", "id")
    serializer_class = make_serializer(Shift)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["day", "practitioner"]


class AppointmentViewSet(ObjectViewSet):
    queryset = Appointment.objects.order_by("starts_at", "id")
    serializer_class = make_serializer(Appointment, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {
        "status": ["exact"],
        "patient": ["exact"],
        "practitioner": ["exact"],
        "starts_at": ["gte", "lte"],
    }

    @step()
    def cancel(self, request, pk=None):
        return self.change(status=Appointment.Status.CANCELLED)

    @step(url_path="check-in")
    def check_in(self, request, pk=None):
        return self.change(status=Appointment.Status.CHECKED_IN)

    @step(serializer_class=Reschedule)
    def reschedule(self, request, pk=None):
        return self.change(starts_at=self.read()["starts_at"])


class EncounterViewSet(ObjectViewSet):
    queryset = Encounter.objects.order_by("-date", "id")
    serializer_class = make_serializer(Encounter)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient", "practitioner"]


class PrescriptionViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    queryset = Prescription.objects.order_by("id")
    serializer_class = make_serializer(Prescription, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient", "status"]
    change = ObjectViewSet.change

    @step()
    def renew(self, request, pk=None):
        return self.change(status=Prescription.Status.ACTIVE)

    @step()
    def stop(self, request, pk=None):
        return self.change(status=Prescription.Status.STOPPED)


class LabOrderViewSet(ObjectViewSet):
    queryset = LabOrder.objects.order_by("id")
    serializer_class = make_serializer(LabOrder)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient"]


class LabResultViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = LabResult.objects.order_by("id")
    serializer_class = make_serializer(LabResult)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["order__patient", "is_abnormal"]


class ReferralViewSet(ObjectViewSet):
    queryset = Referral.objects.order_by("id")
    serializer_class = make_serializer(Referral)


class VaccinationViewSet(ObjectViewSet):
    queryset = Vaccination.objects.order_by("id")
    serializer_class = make_serializer(Vaccination)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient"]

    @action(detail=False)
    def due(self, request):
        rows = self.get_queryset().filter(next_due_on__lte=timezone.localdate())
        return Response(self.get_serializer(rows, many=True).data)


class MeasurementViewSet(ObjectViewSet):
    queryset = Measurement.objects.order_by("-taken_at", "id")
    serializer_class = make_serializer(Measurement)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient", "kind"]


class InvoiceViewSet(ObjectViewSet):
    queryset = Invoice.objects.order_by("id")
    serializer_class = make_serializer(Invoice, read_only=("status",))
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["patient", "status"]

    @step(serializer_class=Payment, url_path="record-payment")
    def record_payment(self, request, pk=None):
        self.read()
        return self.change(status=Invoice.Status.PAID)


urlpatterns = make_urls(
    ("patients", PatientViewSet),
    (r"patients/(?P<patient_pk>\d+)/allergies", AllergyViewSet),
    ("practitioners", PractitionerViewSet),
    ("shifts", ShiftViewSet),
    ("appointments", AppointmentViewSet),
    ("encounters", EncounterViewSet),
    ("prescriptions", PrescriptionViewSet),
    ("lab-orders", LabOrderViewSet),
    ("lab-results", LabResultViewSet),
    ("referrals", ReferralViewSet),
    ("vaccinations", VaccinationViewSet),
    ("measurements", MeasurementViewSet),
    ("invoices", InvoiceViewSet),
)
