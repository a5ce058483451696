from django.urls import include, path
from rest_framework.routers import SimpleRouter

from ..views import LocationCreateView, LocationListView, LocationView
from .views import BirdViewSet

router = SimpleRouter()
router.register("birds", BirdViewSet)

urlpatterns = [
    path("api/locations/", LocationListView.as_view()),
    path("api/locations/new/", LocationCreateView.as_view()),
    path("api/locations/<int:pk>/", LocationView.as_view()),
    path("api/", include(router.urls)),
    path("", include("drf_mcp.urls")),
]
