"""How a client is shown to a person: its own words, and what is known for certain."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from drf_mcp.contrib.oauth.validators import LOOPBACK

LONGEST_NAME = 60


class ClientCard:
    """One client. Its name is whatever it says; its host is where the code is sent.

    Args:
        application: the client, as django-oauth-toolkit keeps it.
        redirect_uri: where this sign-in leads; without it, the first that the client has.
    """

    def __init__(self, application: Any, redirect_uri: str = "") -> None:
        self.application = application
        self.redirect_uri = redirect_uri or next(iter(application.redirect_uris.split()), "")

    @cached_property
    def name(self) -> str:
        # Neither line breaks nor characters that turn the direction of the text around.
        printable = (c if c.isprintable() else " " for c in self.application.name)
        name = " ".join("".join(printable).split())
        if len(name) > LONGEST_NAME:
            name = f"{name[:LONGEST_NAME].rstrip()}…"
        return name or _("A client without a name")

    @property
    def is_known(self) -> bool:
        # Somebody of the project has added it by hand.
        source = self.application.registration_source
        return bool(source == self.application.RegistrationSource.MANUAL)

    @property
    def publisher(self) -> str:
        """The host of the document that a client published, "" for one that registered."""
        application = self.application
        is_document = application.registration_source == application.RegistrationSource.CIMD
        return urlsplit(application.client_id).hostname or "" if is_document else ""

    @property
    def destination(self) -> str:
        """Where the person's browser takes the code: a host, or a program by its scheme."""
        parts = urlsplit(self.redirect_uri)
        if parts.scheme in ("http", "https"):
            return parts.hostname or ""
        return f"{parts.scheme}:"

    @property
    def is_local(self) -> bool:
        return urlsplit(self.redirect_uri).hostname in LOOPBACK

    @property
    def origin(self) -> str:
        # As a Content-Security-Policy names it.
        parts = urlsplit(self.redirect_uri)
        named = parts.scheme in ("http", "https")
        return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"
