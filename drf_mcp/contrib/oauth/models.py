"""Which clients act for whom."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from oauth2_provider.settings import oauth2_settings


class Connection(models.Model):
    """A client that a person has let in, until one of the two ends it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="agent_connections",
        verbose_name=_("user"),
    )
    application = models.ForeignKey(
        oauth2_settings.APPLICATION_MODEL,
        models.CASCADE,
        related_name="agent_connections",
        verbose_name=_("client"),
    )
    since = models.DateTimeField(_("since"))
    last_used = models.DateTimeField(_("last used"))

    class Meta:
        verbose_name = _("connection")
        verbose_name_plural = _("connections")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "application"], name="drf_mcp_oauth_one_connection"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.application}"
