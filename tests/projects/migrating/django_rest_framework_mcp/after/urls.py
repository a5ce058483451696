from django.urls import include, path
from rest_framework.routers import DefaultRouter

from .views import CustomerViewSet, PostViewSet

router = DefaultRouter()
router.register("posts", PostViewSet)
router.register("customers", CustomerViewSet)

urlpatterns = [
    path("api/", include(router.urls)),
    path("", include("drf_mcp.urls")),
]
