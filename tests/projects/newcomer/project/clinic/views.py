import django_filters
from rest_framework import serializers, viewsets
from rest_framework.parsers import MultiPartParser

from clinic.models import Patient, Scan, Visit


def own_patients(request):
    return Patient.objects.filter(doctor=request.user) if request else Patient.objects.none()


class ScanFilter(django_filters.FilterSet):
    patient = django_filters.ModelChoiceFilter(queryset=own_patients)

    class Meta:
        model = Scan
        fields = ["patient"]


class PatientSerializer(serializers.ModelSerializer):
    class Meta:
        model = Patient
        fields = ["id", "name", "born"]


class VisitSerializer(serializers.ModelSerializer):
    class Meta:
        model = Visit
        fields = ["id", "day", "reason"]


class ScanSerializer(serializers.ModelSerializer):
    class Meta:
        model = Scan
        fields = ["id", "patient", "title", "file"]


class PatientViewSet(viewsets.ModelViewSet):
    serializer_class = PatientSerializer
    filterset_fields = ["born"]

    def get_queryset(self):
        return Patient.objects.filter(doctor=self.request.user)

    def perform_create(self, serializer):
        serializer.save(doctor=self.request.user)


class VisitViewSet(viewsets.ModelViewSet):
    serializer_class = VisitSerializer

    def get_queryset(self):
        return Visit.objects.filter(
            patient=self.kwargs["patient_pk"], patient__doctor=self.request.user
        )

    def perform_create(self, serializer):
        patients = Patient.objects.filter(doctor=self.request.user)
        serializer.save(patient=patients.get(pk=self.kwargs["patient_pk"]))


class ScanViewSet(viewsets.ModelViewSet):
    serializer_class = ScanSerializer
    parser_classes = [MultiPartParser]
    filterset_class = ScanFilter

    def get_queryset(self):
        return Scan.objects.filter(patient__doctor=self.request.user)
