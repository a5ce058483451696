"""The versions of the endpoints that have any."""

from __future__ import annotations

from rest_framework.versioning import URLPathVersioning


class StatusVersioning(URLPathVersioning):
    """``v1`` or ``v2``, in the path."""

    allowed_versions = ["v1", "v2"]
    default_version = "v2"
