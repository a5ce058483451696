from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from drf_mcp.access import Narrowing

# The source of the client's `Narrowing`.
THIS_CLIENT = gettext_noop("this client")
# The source of the `Narrowing` of a client that the person lets only read.
THIS_CONNECTION = gettext_noop("this connection")


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


class LinkedIdentity(models.Model):
    """The user whom an identity provider means by a subject (OpenID Connect Core, section 2)."""

    issuer = models.CharField(_("issuer"), max_length=255)
    subject = models.CharField(_("subject"), max_length=255)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("user")
    )

    class Meta:
        verbose_name = _("linked identity")
        verbose_name_plural = _("linked identities")
        unique_together = [("issuer", "subject")]

    def __str__(self) -> str:
        return self.subject


class UsedAssertion(models.Model):
    """An assertion that gave a token, and gives no second one while it is valid."""

    # Of the issuer and the id, so that their length and case do not matter.
    digest = models.CharField(max_length=64, unique=True)
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.digest


def delete_used_assertions() -> int:
    """Delete the assertions that have expired, and return their number."""
    return UsedAssertion.objects.filter(expires__lte=timezone.now()).delete()[0]
