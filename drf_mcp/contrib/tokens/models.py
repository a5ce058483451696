"""Tokens of agents, stored without their secrets."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import re
import string
from datetime import date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, router, transaction
from django.db.models import Q
from django.forms.utils import from_current_timezone
from django.utils import timezone
from django.utils.crypto import constant_time_compare, get_random_string
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from drf_mcp.access import Narrowing
from drf_mcp.access.scopes import is_gone
from drf_mcp.option_types.kinds import read_pattern

logger = logging.getLogger("drf_mcp")

# The beginning of every token of this app, valid or not.
KEY = re.compile(r"mcp_(?P<prefix>[a-z0-9]{8})_")
# 256 bits cannot be guessed, so a fast hash is enough.
SECRET_LENGTH = 43
# The source of the token's `Narrowing`.
THIS_TOKEN = gettext_noop("this token")
# How often the use of a token is written.
USE_INTERVAL = timedelta(minutes=1)


def _make_digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def validate_patterns(value: Any) -> None:
    for text in _read_texts(value):
        try:
            read_pattern(text)
        except ValueError as exc:
            message = _("%(text)r is no pattern: %(error)s.") % {"text": text, "error": exc}
            raise ValidationError(message) from exc


def validate_networks(value: Any) -> None:
    for text in _read_texts(value):
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError as exc:
            message = _("%(text)r is no network such as 10.0.0.0/8.") % {"text": text}
            raise ValidationError(message) from exc
        if ipaddress.ip_interface(text).ip != network.network_address:
            fault = _("%(text)r is an address within a network: the network is %(network)s.")
            raise ValidationError(fault % {"text": text, "network": network})


def _read_texts(value: Any) -> list[str]:
    # Iterating over a string would yield its letters.
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValidationError(_("%(value)r is no list of texts.") % {"value": value})
    return value


# Days for which a new token is valid by default.
DEFAULT_DAYS = 90


def find_today() -> date:
    return timezone.localdate() if settings.USE_TZ else date.today()


def find_last_day() -> date:
    return find_today() + timedelta(days=DEFAULT_DAYS)


def find_end(last_day: date) -> datetime:
    # The token is valid until the end of its last day.
    end: datetime = from_current_timezone(datetime.combine(last_day, time(23, 59, 59)))
    return end


class AgentTokenQuerySet(models.QuerySet["AgentToken"]):
    @sensitive_variables("key")
    def find(self, key: str) -> AgentToken | None:
        found = KEY.match(key)
        if found is None:
            return None
        token = self.select_related("user").filter(prefix=found["prefix"]).first()
        digest = _make_digest(key)
        # Comparing takes the same time for any secret.
        return token if token and constant_time_compare(token.digest, digest) else None

    def in_state(self, state: str) -> AgentTokenQuerySet:
        kept, now = Q(revoked=None), timezone.now()
        conditions = {
            "open": kept & (Q(expires=None) | Q(expires__gt=now)),
            "expired": kept & Q(expires__lte=now),
            "revoked": ~kept,
        }
        return self.filter(conditions[state])


class AgentToken(models.Model):
    """The access of one agent to the tools of one user."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="agent_tokens",
        verbose_name=_("user"),
        help_text=_("Whose rights the agent has, as far as the token leaves them."),
    )
    name = models.CharField(
        _("name"), max_length=100, help_text=_("Which agent has it, and on which machine.")
    )
    prefix = models.CharField(_("prefix"), max_length=8, unique=True, editable=False)
    digest = models.CharField(_("digest"), max_length=64, editable=False)
    tools = models.JSONField(_("tools"), default=list, blank=True, validators=[validate_patterns])
    read_only = models.BooleanField(
        _("read-only"), default=False, help_text=_("Only tools that change nothing.")
    )
    networks = models.JSONField(
        _("networks"), default=list, blank=True, validators=[validate_networks]
    )
    expires = models.DateTimeField(
        _("expires"), null=True, blank=True, help_text=_("Empty for never.")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    last_used = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked = models.DateTimeField(_("revoked"), null=True, editable=False)

    objects = AgentTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.shown_key})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        # `full_clean` is not always called before.
        validate_patterns(self.tools)
        validate_networks(self.networks)
        super().save(*args, **kwargs)

    def issue(self) -> str:
        """Make the secret and return the whole key, which is stored nowhere.

        Save the token afterwards.
        """
        self.prefix = get_random_string(8, string.ascii_lowercase + string.digits)
        key = f"mcp_{self.prefix}_{get_random_string(SECRET_LENGTH)}"
        self.digest = _make_digest(key)
        return key

    @property
    def shown_key(self) -> str:
        return f"mcp_{self.prefix}"

    @property
    def narrowing(self) -> Narrowing:
        """Which of the user's tools the token opens; the endpoint reads it."""
        return Narrowing(THIS_TOKEN, tuple(self.tools) or None, self.read_only)

    @property
    def state(self) -> str:
        """As in `AgentTokenQuerySet.in_state`."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires and self.expires <= timezone.now() else "open"

    def find_fault(self, address: str | None = None) -> str:
        """Return why the token is not taken, "" if it is.

        Args:
            address: the network address of the caller; None to leave networks aside.
        """
        if self.state == "revoked":
            return gettext("The token was revoked.")
        if self.state == "expired":
            return gettext("The token has expired.")
        if is_gone(self.user):
            return gettext("The token's user is not active.")
        if address is not None and self.networks and not self._is_within(address):
            return gettext("The token is not taken from this network address.")
        return ""

    def _is_within(self, address: str) -> bool:
        try:
            place = ipaddress.ip_address(address)
        except ValueError:
            # A Unix socket has no address.
            return False
        # Servers that listen to both families show IPv4 addresses as IPv6.
        place = getattr(place, "ipv4_mapped", None) or place
        return any(place in ipaddress.ip_network(network) for network in self.networks)

    def revoke(self) -> None:
        if self.revoked is None:
            self.revoked = timezone.now()
            self.save(update_fields=["revoked"])

    def note_use(self) -> None:
        now = timezone.now()
        if self.last_used is not None and now - self.last_used < USE_INTERVAL:
            return
        self.last_used = now
        rows = type(self)._default_manager.filter(pk=self.pk)
        try:
            # A savepoint: a failure must not break the transaction of the call.
            with transaction.atomic(using=router.db_for_write(type(self))):
                rows.update(last_used=now)
        except DatabaseError as exc:
            # With a read-only database the call goes on.
            logger.warning("The use of %s was not noted: %s", self.shown_key, exc)
