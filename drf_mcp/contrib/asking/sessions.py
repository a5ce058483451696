"""What a client declared when it shook hands, in a session id that no server keeps."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.utils.translation import gettext as _

from drf_mcp.exceptions import Refused
from drf_mcp.json_text import hash_json
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY
from drf_mcp.protocol.eras import read_modes

HEADER = "Mcp-Session-Id"
SALT = "drf_mcp.contrib.asking.sessions"
SECONDS = 30 * 24 * 3600
# What a server may ask for in the response of a call, of all that a client can declare.
MODES = ("form", "url")


@dataclass(frozen=True)
class Session:
    """A client from its handshake on (2025-11-25, basic/transports, "Session Management").

    Attributes:
        key: which of the caller's sessions it is.
        owner: a hash of the caller.
        modes: what the client's user can be asked by: ``form`` and ``url``.
    """

    key: str
    owner: str
    modes: tuple[str, ...]

    @classmethod
    def open(cls, declared: Any, principal: str) -> Session | None:
        """Return the session of a client, None for one whose user cannot be asked.

        Args:
            declared: the ``capabilities`` of ``initialize``, any JSON value.
            principal: who is calling.
        """
        known = read_modes({CLIENT_CAPABILITIES_KEY: declared})
        modes = tuple(mode for mode in MODES if mode in known)
        return cls(secrets.token_urlsafe(16), hash_json(principal), modes) if modes else None

    @classmethod
    def find(cls, headers: Mapping[str, str] | None, caller: Any) -> Session | None:
        """Return the session that the headers of a request name, None where they name none.

        Raises:
            Refused: with 404, if the session is not the caller's or has ended.
            APIException: if the caller is not let in.
        """
        text = None if headers is None else headers.get(HEADER)
        if text is None:
            return None
        principal = caller.principal
        try:
            session = cls(*signing.loads(text, salt=SALT, max_age=SECONDS))
        except (signing.BadSignature, ValueError):
            raise SessionNotFound() from None
        if session.owner != hash_json(principal):
            raise SessionNotFound()
        return session

    def write(self) -> str:
        """Return the session id: visible ASCII, signed."""
        return signing.dumps([self.key, self.owner, self.modes], salt=SALT)


class SessionNotFound(Refused):
    """The session id is no session of the caller (HTTP 404): the client initializes anew."""

    def __init__(self) -> None:
        super().__init__(404, _("There is no such session: initialize anew."))
