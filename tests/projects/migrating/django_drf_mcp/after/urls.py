from django.urls import include, path
from rest_framework.routers import DefaultRouter

from ..views import CountsView, ProjectViewSet, TaskViewSet

router = DefaultRouter()
router.register("projects", ProjectViewSet)
router.register("tasks", TaskViewSet)

urlpatterns = [
    path("api/", include(router.urls)),
    path("api/counts/", CountsView.as_view()),
    path("", include("drf_mcp.urls")),
]
