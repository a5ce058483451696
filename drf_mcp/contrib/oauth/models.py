from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_noop

from drf_mcp.access import Narrowing

# The source of the client's `Narrowing`.
THIS_CLIENT = gettext_noop("this client")


class ServiceClient(models.Model):
    """A client of the client credentials grant (RFC 6749, section 4.4) and its service account."""

    client_id = models.CharField(max_length=255, unique=True)
    name = models.CharField(max_length=100, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    tools = models.JSONField(default=list)

    objects: models.Manager[ServiceClient] = models.Manager()

    def __str__(self) -> str:
        return self.name

    @property
    def narrowing(self) -> Narrowing:
        """Which of the user's tools the client may call; the endpoint reads it."""
        return Narrowing(THIS_CLIENT, tuple(self.tools))
