from rest_framework.routers import DefaultRouter
from rest_framework_nested.routers import NestedDefaultRouter

from clinic.views import PatientViewSet, ScanViewSet, VisitViewSet

router = DefaultRouter()
router.register("patients", PatientViewSet, basename="patient")
router.register("scans", ScanViewSet, basename="scan")
visits = NestedDefaultRouter(router, "patients", lookup="patient")
visits.register("visits", VisitViewSet, basename="visit")

urlpatterns = [*router.urls, *visits.urls]
