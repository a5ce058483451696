from django.conf import settings
from django.db import models


class Patient(models.Model):
    doctor = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="patients")
    name = models.CharField(max_length=100)
    born = models.DateField()

    class Meta:
        ordering = ["id"]

    def __str__(self):
        return self.name


class Visit(models.Model):
    patient = models.ForeignKey(Patient, models.CASCADE, related_name="visits")
    day = models.DateField()
    reason = models.TextField()

    class Meta:
        ordering = ["id"]

    def __str__(self):
        return f"{self.day}"


class Scan(models.Model):
    patient = models.ForeignKey(Patient, models.CASCADE, related_name="scans")
    title = models.CharField(max_length=100)
    file = models.FileField(upload_to="scans")

    class Meta:
        ordering = ["id"]

    def __str__(self):
        return self.title
