"""The well-known addresses of OAuth, for the root of the host.

`drf_mcp.urls` has them too. Projects that do not include it at the root include these::

    path("", include("drf_mcp.access.urls")),
"""

from django.contrib.auth.decorators import login_not_required
from django.urls import path, register_converter

from drf_mcp.access.resources import ProtectedResourceView, WellKnownConverter

register_converter(WellKnownConverter, "mcp_endpoint")

urlpatterns = [
    path(
        ".well-known/oauth-protected-resource<mcp_endpoint:endpoint>",
        # For Django's LoginRequiredMiddleware.
        login_not_required(ProtectedResourceView.as_view()),
        name="protected-resource",
    )
]
