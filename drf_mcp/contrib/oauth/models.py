"""Connections: which clients act for which people, and when."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any

from django.conf import settings
from django.db import DatabaseError, models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from oauth2_provider.models import (
    get_access_token_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.signals import app_authorized

logger = logging.getLogger("drf_mcp")

# Seconds between two writes of the last use of one connection, in one process.
WRITE_INTERVAL = 60
# The most connections whose last write one process remembers.
MAX_REMEMBERED = 10_000


class Connection(models.Model):
    """A client that acts for a person."""

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


class Recorder:
    """Writes when connections were last used, each at most once a minute."""

    def __init__(self) -> None:
        self.written: dict[tuple[Any, Any], float] = {}

    def record(self, user_id: Any, application_id: Any) -> None:
        key, now = (user_id, application_id), time.monotonic()
        if now - self.written.get(key, -WRITE_INTERVAL) < WRITE_INTERVAL:
            return
        if len(self.written) >= MAX_REMEMBERED:
            self.written.clear()
        self.written[key] = now
        self.write(user_id, application_id)

    def write(self, user_id: Any, application_id: Any) -> None:
        own = {"user_id": user_id, "application_id": application_id}
        used = {"last_used": timezone.now()}
        first = {**used, "since": used["last_used"]}
        try:
            # A savepoint: a failure here must not break the transaction of a view.
            with transaction.atomic():
                Connection.objects.update_or_create(**own, defaults=used, create_defaults=first)
        except DatabaseError:
            logger.warning("The last use of a connection could not be recorded.", exc_info=True)


recorder = Recorder()


def belongs_to_client(token: Any) -> bool:
    """Return whether a token acts for a person; the token of a program has no user."""
    return bool(token is not None and token.user_id and token.application_id)


@receiver(app_authorized, dispatch_uid="drf_mcp.contrib.oauth")
def begin_connection(sender: Any, token: Any, **kwargs: Any) -> None:
    if belongs_to_client(token):
        recorder.write(token.user_id, token.application_id)


# What the secret of a client begins with that introduced itself.
HASHED = "sha256$"


def hash_secret(secret: str) -> str:
    return f"{HASHED}{hashlib.sha256(secret.encode()).hexdigest()}"


def keep_hash_of_secret(sender: Any, instance: Any, raw: bool, **kwargs: Any) -> None:
    """Keep a fast hash of the secret of a client that introduced itself.

    The toolkit's hash for passwords takes a third of a second, which anybody could ask for. The
    secret is random, so a fast hash does not help to guess it.
    """
    is_manual = instance.registration_source == sender.RegistrationSource.MANUAL
    if instance._state.adding and not is_manual and not raw:
        instance.hash_client_secret = False
        instance.client_secret = hash_secret(instance.client_secret)


def find_connections(user: Any) -> QuerySet[Connection]:
    """Return the connections of a person that still have a token, the last used first."""
    own = {"user": OuterRef("user"), "application": OuterRef("application")}
    now = timezone.now()
    alive = Exists(get_access_token_model().objects.filter(**own, expires__gt=now))
    renewable = Exists(get_refresh_token_model().objects.filter(**own, revoked=None))
    found = Connection.objects.filter(Q(alive) | Q(renewable), user=user)
    return found.select_related("application").order_by("-last_used", "-pk")


def end_connection(connection: Connection) -> None:
    own = {"user": connection.user_id, "application": connection.application_id}
    models = (get_refresh_token_model(), get_access_token_model(), get_grant_model())
    with transaction.atomic():
        for model in models:
            model.objects.filter(**own).delete()
        recorder.written.pop((connection.user_id, connection.application_id), None)
        connection.delete()


def find_scopes(connection: Connection) -> list[str]:
    own = {"user": connection.user_id, "application": connection.application_id}
    texts = get_access_token_model().objects.filter(**own).values_list("scope", flat=True)
    return sorted(set(" ".join(texts).split()))
