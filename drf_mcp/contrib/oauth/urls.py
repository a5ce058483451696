"""All of the authorization server, for the root of the URLconf::

    path("", include("drf_mcp.contrib.oauth.urls")),

The issuer is ``/o`` on the project's host. Nothing else of django-oauth-toolkit is served: no
pages on which users register clients, no introspection.
"""

from django.urls import include, path
from oauth2_provider import views as toolkit

from drf_mcp.contrib.oauth import views

# The name by which django-oauth-toolkit looks its own addresses up.
app_name = "oauth2_provider"

WELL_KNOWN = ".well-known/oauth-authorization-server"
metadata = views.ServerMetadataView.as_view()
registration = toolkit.DynamicClientRegistrationManagementView.as_view()

issuer_urlpatterns = [
    path("authorize/", views.ConsentView.as_view(), name="authorize"),
    path("token/", views.TokenRequestView.as_view(), name="token"),
    path("revoke_token/", views.RevocationView.as_view(), name="revoke-token"),
    path("register/", views.RegistrationView.as_view(), name="dcr-register"),
    path("register/<str:client_id>/", registration, name="dcr-register-management"),
    path("connections/", views.ConnectionsView.as_view(), name="connections"),
    path(WELL_KNOWN, metadata, name="oauth-server-metadata"),
]

urlpatterns = [
    path("o/", include(issuer_urlpatterns)),
    # RFC 8414, section 3.1: before the path of the issuer.
    path(f"{WELL_KNOWN}/o", metadata),
]
