"""Where files are uploaded, below the endpoint: include it at ``mcp/uploads/``."""

from django.urls import path

from drf_mcp.contrib.uploads.views import UploadView

app_name = "drf_mcp_uploads"
urlpatterns = [path("", UploadView.as_view(), name="upload")]
