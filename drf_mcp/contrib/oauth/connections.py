"""What is known of connections: when they began, when they were used, how they end."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.dispatch import receiver
from django.utils import timezone
from oauth2_provider.models import (
    get_access_token_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.signals import app_authorized

from drf_mcp.contrib.oauth.models import Connection

logger = logging.getLogger("drf_mcp")

# Seconds for which one process lets the time of the last use be.
PRECISION = 60
# So many connections are remembered at most, by one process.
MOST_REMEMBERED = 10_000


class Recorder:
    """Writes down when connections are used, seldom enough to cost nothing."""

    def __init__(self) -> None:
        self.written: dict[tuple[Any, Any], float] = {}

    def record(self, user_id: Any, application_id: Any) -> None:
        key, now = (user_id, application_id), time.monotonic()
        if now - self.written.get(key, -PRECISION) < PRECISION:
            return
        if len(self.written) >= MOST_REMEMBERED:
            self.written.clear()
        self.written[key] = now
        self.write(user_id, application_id)

    def write(self, user_id: Any, application_id: Any) -> None:
        own = {"user_id": user_id, "application_id": application_id}
        used = {"last_used": timezone.now()}
        first = {**used, "since": used["last_used"]}
        try:
            # In a block of its own: what fails here spoils no transaction of a view.
            with transaction.atomic():
                Connection.objects.update_or_create(**own, defaults=used, create_defaults=first)
        except DatabaseError:
            logger.warning("The last use of a connection could not be recorded.", exc_info=True)


recorder = Recorder()


def belongs_to_client(token: Any) -> bool:
    """Return whether a token acts for a person in a client; a program's own is for no person."""
    return bool(token is not None and token.user_id and token.application_id)


def record_use(token: Any) -> None:
    """Remember that a token of a connection was used."""
    recorder.record(token.user_id, token.application_id)


@receiver(app_authorized, dispatch_uid="drf_mcp.contrib.oauth")
def begin_connection(sender: Any, token: Any, **kwargs: Any) -> None:
    if belongs_to_client(token):
        recorder.write(token.user_id, token.application_id)


def find_connections(user: Any) -> QuerySet[Connection]:
    """Return a person's connections that still have a token, the latest used first."""
    own = {"user": OuterRef("user"), "application": OuterRef("application")}
    now = timezone.now()
    alive = Exists(get_access_token_model().objects.filter(**own, expires__gt=now))
    renewable = Exists(get_refresh_token_model().objects.filter(**own, revoked=None))
    found = Connection.objects.filter(Q(alive) | Q(renewable), user=user)
    return found.select_related("application").order_by("-last_used", "-pk")


def end_connection(connection: Connection) -> None:
    """Take every token and code of a client for a person away, at once."""
    own = {"user": connection.user_id, "application": connection.application_id}
    models = (get_refresh_token_model(), get_access_token_model(), get_grant_model())
    with transaction.atomic():
        for model in models:
            model.objects.filter(**own).delete()
        recorder.written.pop((connection.user_id, connection.application_id), None)
        connection.delete()


def find_scopes(connection: Connection) -> list[str]:
    """Return the scopes of the tokens that a connection has, in the order of their names."""
    own = {"user": connection.user_id, "application": connection.application_id}
    texts = get_access_token_model().objects.filter(**own).values_list("scope", flat=True)
    return sorted(set(" ".join(texts).split()))
