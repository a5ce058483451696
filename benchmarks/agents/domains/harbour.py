"""A harbour: vessels at their berths, pilots, tugs, tides and buoys."""

from __future__ import annotations

from django.db import models
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from benchmarks.agents.domains.making import make_urls, make_viewset, step


class Vessel(models.Model):
    class Kind(models.TextChoices):
        TANKER = "tanker", "Tanker"
        BULKER = "bulker", "Bulk carrier"
        FERRY = "ferry", "Ferry"
        TRAWLER = "trawler", "Trawler"

    name = models.CharField(max_length=60)
    imo_number = models.CharField(max_length=7, unique=True)
    flag = models.CharField(max_length=2)
    draught = models.DecimalField(max_digits=4, decimal_places=1, help_text="Metres.")
    kind = models.CharField(max_length=8, choices=Kind.choices)


class Quay(models.Model):
    name = models.CharField(max_length=60)


class Berth(models.Model):
    quay = models.ForeignKey(Quay, on_delete=models.PROTECT)
    code = models.CharField(max_length=6)
    depth = models.DecimalField(max_digits=4, decimal_places=1)
    is_barred = models.BooleanField(default=False)


class Mooring(models.Model):
    class State(models.TextChoices):
        ANNOUNCED = "announced", "Announced"
        ALONGSIDE = "alongside", "Alongside"
        SAILED = "sailed", "Sailed"

    vessel = models.ForeignKey(Vessel, on_delete=models.PROTECT)
    berth = models.ForeignKey(Berth, on_delete=models.PROTECT)
    eta = models.DateTimeField("estimated time of arrival")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ANNOUNCED)


class Pilot(models.Model):
    name = models.CharField(max_length=60)
    grade = models.PositiveSmallIntegerField()
    on_watch = models.BooleanField(default=False)


class Pilotage(models.Model):
    vessel = models.ForeignKey(Vessel, on_delete=models.PROTECT)
    pilot = models.ForeignKey(Pilot, on_delete=models.PROTECT, null=True, blank=True)
    boards_at = models.DateTimeField()
    is_inbound = models.BooleanField(default=True)
    is_abandoned = models.BooleanField(default=False)


class Tug(models.Model):
    name = models.CharField(max_length=60)
    bollard_pull = models.PositiveSmallIntegerField(help_text="Tonnes.")


class Towage(models.Model):
    vessel = models.ForeignKey(Vessel, on_delete=models.PROTECT)
    tug = models.ForeignKey(Tug, on_delete=models.PROTECT)
    starts_at = models.DateTimeField()
    is_released = models.BooleanField(default=False)


class Tide(models.Model):
    at = models.DateTimeField()
    height = models.DecimalField(max_digits=4, decimal_places=2)
    is_high = models.BooleanField(default=True)


class Buoy(models.Model):
    number = models.CharField(max_length=6)
    fairway = models.CharField(max_length=60)
    light = models.CharField(max_length=30, help_text="Such as Fl.G.3s.")
    is_lit = models.BooleanField(default=True)


class DangerousCargo(models.Model):
    vessel = models.ForeignKey(Vessel, on_delete=models.CASCADE)
    un_number = models.CharField(max_length=6)
    tonnes = models.DecimalField(max_digits=7, decimal_places=1)
    is_landed = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "dangerous cargoes"


class Toll(models.Model):
    vessel = models.ForeignKey(Vessel, on_delete=models.PROTECT)
    tonnage = models.PositiveIntegerField()
    euros = models.DecimalField(max_digits=9, decimal_places=2)
    is_remitted = models.BooleanField(default=False)


class Bunkering(models.Model):
    vessel = models.ForeignKey(Vessel, on_delete=models.CASCADE)
    grade = models.CharField(max_length=20, help_text="Such as MGO or VLSFO.")
    tonnes = models.DecimalField(max_digits=7, decimal_places=1)
    starts_at = models.DateTimeField()


class Anchorage(models.Model):
    code = models.CharField(max_length=6)
    depth = models.DecimalField(max_digits=4, decimal_places=1)
    vessel = models.ForeignKey(Vessel, on_delete=models.SET_NULL, null=True, blank=True)


class Dredging(models.Model):
    quay = models.ForeignKey(Quay, on_delete=models.CASCADE)
    begins_on = models.DateField()
    depth_after = models.DecimalField(max_digits=4, decimal_places=1)


class BerthViewSet(
    make_viewset(
        Berth,
        order=("code",),
        filters={"quay": ["exact"], "depth": ["gte"], "is_barred": ["exact"]},
        read_only=("is_barred",),
    )
):
    @step()
    def bar(self, request, pk=None):
        """Let no vessel lie at the berth."""
        return self.change(is_barred=True)


class MooringViewSet(
    make_viewset(
        Mooring,
        order=("eta", "id"),
        filters={"vessel": ["exact"], "berth": ["exact"], "eta": ["gte", "lte"]},
        read_only=("state",),
    )
):
    @step(url_path="tie-up")
    def tie_up(self, request, pk=None):
        return self.change(state=Mooring.State.ALONGSIDE)

    @step(url_path="cast-off")
    def cast_off(self, request, pk=None):
        return self.change(state=Mooring.State.SAILED)


class PilotageViewSet(
    make_viewset(
        Pilotage,
        order=("boards_at",),
        filters=["vessel", "pilot", "is_inbound"],
        read_only=("is_abandoned",),
    )
):
    @step()
    def abandon(self, request, pk=None):
        return self.change(is_abandoned=True)


class TowageViewSet(
    make_viewset(
        Towage, order=("starts_at",), filters=["vessel", "tug"], read_only=("is_released",)
    )
):
    @step()
    def unhook(self, request, pk=None):
        """End the towage."""
        return self.change(is_released=True)


class DangerousCargoViewSet(
    make_viewset(DangerousCargo, filters=["vessel", "is_landed"], read_only=("is_landed",))
):
    @step()
    def land(self, request, pk=None):
        """Permit that the cargo is landed."""
        return self.change(is_landed=True)


class TollViewSet(
    make_viewset(Toll, filters=["vessel", "is_remitted"], read_only=("is_remitted",))
):
    @step()
    def remit(self, request, pk=None):
        return self.change(is_remitted=True)

    @step()
    def waive(self, request, pk=None):
        return self.change(euros=0)

    @action(detail=False)
    def arrears(self, request):
        """What vessels still have to remit."""
        return Response(list(Toll.objects.filter(is_remitted=False).values("vessel", "euros")))


urlpatterns = make_urls(
    (
        "vessels",
        make_viewset(
            Vessel, order=("name",), filters=["flag", "kind"], search=["name", "imo_number"]
        ),
    ),
    ("quays", make_viewset(Quay, order=("name",))),
    ("berths", BerthViewSet),
    ("moorings", MooringViewSet),
    ("pilots", make_viewset(Pilot, order=("name",), filters=["grade", "on_watch"])),
    ("pilotages", PilotageViewSet),
    ("tugs", make_viewset(Tug, order=("name",), base=viewsets.ReadOnlyModelViewSet)),
    ("towages", TowageViewSet),
    (
        "tides",
        make_viewset(
            Tide,
            order=("at",),
            filters={"at": ["gte", "lte"], "is_high": ["exact"]},
            base=viewsets.ReadOnlyModelViewSet,
        ),
    ),
    ("buoys", make_viewset(Buoy, order=("number",), filters=["fairway", "is_lit"])),
    ("dangerous-cargoes", DangerousCargoViewSet),
    ("tolls", TollViewSet),
    ("bunkerings", make_viewset(Bunkering, order=("starts_at",), filters=["vessel", "grade"])),
    (
        "anchorages",
        make_viewset(Anchorage, order=("code",), filters={"vessel": ["isnull"], "depth": ["gte"]}),
    ),
    ("dredgings", make_viewset(Dredging, order=("begins_on",), filters=["quay"])),
)
