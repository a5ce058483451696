"""The URLs of the example project without the endpoint."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="api-root")),
    path("admin/", admin.site.urls),
    path("api/library/", include("example_project.library.urls")),
    path("api/", include("example_project.shop.urls")),
    path("api-auth/", include("rest_framework.urls")),
]
