"""The page on which users make their own tokens, for example below the endpoint's path::

path("mcp/tokens/", include("drf_mcp.contrib.tokens.urls")),
"""

from django.urls import path

from drf_mcp.contrib.tokens.views import TokensView

app_name = "drf_mcp_tokens"
urlpatterns = [path("", TokensView.as_view(), name="tokens")]
