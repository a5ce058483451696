from django.urls import include, path
from rest_framework.routers import DefaultRouter

from ..views import AuthorViewSet, BookViewSet

router = DefaultRouter()
router.register("authors", AuthorViewSet)
router.register("books", BookViewSet)

urlpatterns = [
    path("api/", include(router.urls)),
    path("", include("drf_mcp.urls")),
]
