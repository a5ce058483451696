"""A seed bank: accessions in cold vaults, germination trials, plots and distributions."""

from __future__ import annotations

from django.db import models
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from benchmarks.agents.domains.making import make_serializer, make_urls, make_viewset, step


class Taxon(models.Model):
    class Threat(models.TextChoices):
        NONE = "none", "Not threatened"
        ENDANGERED = "endangered", "Endangered"
        EXTINCT = "extinct", "Extinct in the wild"

    genus = models.CharField(max_length=60)
    epithet = models.CharField(max_length=60)
    vernacular = models.CharField("vernacular", max_length=60, blank=True)
    threat = models.CharField(max_length=12, choices=Threat.choices, default=Threat.NONE)

    class Meta:
        verbose_name_plural = "taxa"


class Vault(models.Model):
    code = models.CharField(max_length=8, unique=True)
    target_celsius = models.DecimalField(max_digits=4, decimal_places=1)
    measured_celsius = models.DecimalField(max_digits=4, decimal_places=1, null=True)


class Drawer(models.Model):
    vault = models.ForeignKey(Vault, on_delete=models.PROTECT)
    code = models.CharField(max_length=8)


class Accession(models.Model):
    class State(models.TextChoices):
        DRYING = "drying", "Drying"
        BANKED = "banked", "Banked"
        EXHAUSTED = "exhausted", "Exhausted"

    taxon = models.ForeignKey(Taxon, on_delete=models.PROTECT)
    number = models.CharField(max_length=20, unique=True)
    origin = models.CharField(max_length=80, help_text="Region of the wild or farmed population.")
    collected_on = models.DateField(null=True, blank=True)
    donor = models.CharField(max_length=80, blank=True)
    grams = models.DecimalField(max_digits=8, decimal_places=2)
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, null=True, blank=True)
    is_embargoed = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRYING)


class GerminationTrial(models.Model):
    accession = models.ForeignKey(Accession, on_delete=models.CASCADE)
    sown_on = models.DateField()
    sown = models.PositiveIntegerField()
    sprouted = models.PositiveIntegerField(null=True)


class Protocol(models.Model):
    taxon = models.ForeignKey(Taxon, on_delete=models.CASCADE)
    celsius = models.DecimalField(max_digits=4, decimal_places=1)
    chilling_weeks = models.PositiveSmallIntegerField(default=0)
    text = models.TextField(help_text="How seeds of the taxon break dormancy.")


class Regeneration(models.Model):
    accession = models.ForeignKey(Accession, on_delete=models.CASCADE)
    plot = models.CharField(max_length=20)
    planted_on = models.DateField()
    yield_grams = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)


class Replica(models.Model):
    accession = models.ForeignKey(Accession, on_delete=models.CASCADE)
    genebank = models.CharField(max_length=80, help_text="Where the safety replica is held.")
    grams = models.DecimalField(max_digits=8, decimal_places=2)


class Distribution(models.Model):
    accession = models.ForeignKey(Accession, on_delete=models.PROTECT)
    grantee = models.CharField(max_length=80)
    country = models.CharField(max_length=2)
    grams = models.DecimalField(max_digits=8, decimal_places=2)
    certificate = models.CharField("phytosanitary certificate", max_length=40, blank=True)


class Expedition(models.Model):
    region = models.CharField(max_length=80)
    leader = models.CharField(max_length=80)
    departs_on = models.DateField()
    is_over = models.BooleanField(default=False)


class Infestation(models.Model):
    accession = models.ForeignKey(Accession, on_delete=models.CASCADE)
    pest = models.CharField(max_length=60)
    found_on = models.DateField()
    is_fumigated = models.BooleanField(default=False)


class AccessionViewSet(
    make_viewset(
        Accession,
        order=("number",),
        filters=["taxon", "drawer", "state", "donor"],
        search=["number", "origin"],
        read_only=("state", "is_embargoed"),
    )
):
    @step()
    def stow(self, request, pk=None):
        """Put the dried accession into its drawer."""
        return self.change(state=Accession.State.BANKED)

    @step()
    def embargo(self, request, pk=None):
        return self.change(is_embargoed=True)

    @step(url_path="lift-embargo")
    def lift_embargo(self, request, pk=None):
        return self.change(is_embargoed=False)

    @action(detail=True)
    def viability(self, request, pk=None):
        """Share of seeds that germinated in the latest trial."""
        trial = GerminationTrial.objects.filter(accession=pk).order_by("-sown_on").first()
        return Response({"viability": trial and trial.sprouted and trial.sprouted / trial.sown})


class RegenerationViewSet(
    make_viewset(
        Regeneration,
        filters={"accession": ["exact"], "yield_grams": ["isnull"]},
        read_only=("yield_grams",),
    )
):
    @step(serializer_class=make_serializer(Regeneration, ["yield_grams"]))
    def harvest(self, request, pk=None):
        """Enter the yield of the plot."""
        return self.change(**self.read())


class DistributionViewSet(
    make_viewset(
        Distribution,
        filters=["accession", "country"],
        search=["grantee"],
        read_only=("certificate",),
    )
):
    @step(serializer_class=make_serializer(Distribution, ["certificate"]))
    def certify(self, request, pk=None):
        """Attach the phytosanitary certificate, with which the seeds may leave."""
        return self.change(**self.read())


class ExpeditionViewSet(
    make_viewset(Expedition, order=("departs_on", "id"), read_only=("is_over",))
):
    @step()
    def conclude(self, request, pk=None):
        return self.change(is_over=True)


urlpatterns = make_urls(
    (
        "taxa",
        make_viewset(
            Taxon,
            order=("genus", "epithet"),
            filters=["threat"],
            search=["genus", "epithet", "vernacular"],
        ),
    ),
    ("vaults", make_viewset(Vault, order=("code",), base=viewsets.ReadOnlyModelViewSet)),
    ("drawers", make_viewset(Drawer, order=("code",), filters=["vault"])),
    ("accessions", AccessionViewSet),
    (
        "germination-trials",
        make_viewset(
            GerminationTrial,
            order=("-sown_on", "id"),
            filters={"accession": ["exact"], "sprouted": ["lte"], "sown_on": ["gte", "lte"]},
        ),
    ),
    ("protocols", make_viewset(Protocol, filters=["taxon"])),
    ("regenerations", RegenerationViewSet),
    ("replicas", make_viewset(Replica, filters=["accession"], search=["genebank"])),
    ("distributions", DistributionViewSet),
    ("expeditions", ExpeditionViewSet),
    ("infestations", make_viewset(Infestation, filters=["accession", "is_fumigated"])),
)
