"""The well-known addresses of OAuth, which stand at the root of the host.

`drf_mcp.urls` has them too, for projects that include it at the root. All others include these::

    path("", include("drf_mcp.access.urls")),
"""

from django.contrib.auth.decorators import login_not_required
from django.urls import path, register_converter

from drf_mcp.access.metadata import ProtectedResourceView, WellKnownConverter

register_converter(WellKnownConverter, "mcp_endpoint")

urlpatterns = [
    path(
        ".well-known/oauth-protected-resource<mcp_endpoint:endpoint>",
        # Django's LoginRequiredMiddleware lets it be.
        login_not_required(ProtectedResourceView.as_view()),
        name="protected-resource",
    ),
]
