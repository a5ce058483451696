"""What is kept of a program for its caller: the answers before a stop, or a long result."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core import signing
from django.utils import timezone

from drf_mcp.archives import StoredAnswer, get_rights_fingerprint
from drf_mcp.features import Caller, LimitReached, get_rows, mcp_settings
from drf_mcp.interaction.exchange import ANSWER_SECONDS
from drf_mcp.json_text import hash_json

SIGNER = "drf_mcp.contrib.compose"


class Gone(Exception):
    """The id names nothing that is kept for the caller, or no longer does."""


class Keeper:
    """Keeps states of programs for one caller at one endpoint, under the same rights."""

    def __init__(self, caller: Caller, limits: Mapping[str, int]) -> None:
        self.caller = caller
        self.limits = limits
        # Why nothing was kept, where a bound of the owner is the reason.
        self.refusal = ""

    @property
    def owner(self) -> str:
        """A hash of who is calling, "" for anonymous callers, who look alike."""
        self.caller.authenticate()
        principal = self.caller.principal
        return hashlib.sha256(principal.encode()).hexdigest() if principal else ""

    @property
    def rights(self) -> str:
        """A hash of what the caller may: endpoint, rights, and what takes tools away."""
        fingerprint = get_rights_fingerprint(self.caller.authenticate())
        narrowings = [[n.source, n.tools, n.read_only] for n in self.caller.narrowings]
        return hash_json([self.caller.request.path.rstrip("/"), fingerprint, narrowings])

    def keep(self, state: Mapping[str, Any]) -> str:
        """Keep a state, and return its id, which is signed and cannot be guessed.

        The id is "" where nothing is kept: of anonymous callers, of what is too long, and beyond
        what an owner may keep. What is kept already stays.
        """
        owner = self.owner
        text = json.dumps({**state, "rights": self.rights}, separators=(",", ":"))
        if not owner or len(text) > self.limits["characters"]:
            return ""
        rows, now, nonce = _find_kept_programs(), timezone.now(), secrets.token_urlsafe(12)
        expires = now + timedelta(seconds=ANSWER_SECONDS)
        holder = self.caller.holder
        who = {"owner": owner, "holder": holder}
        row = rows.create(nonce=nonce, state=text, created=now, expires=expires, **who)
        # Counted afterwards, so that calls at the same time do not pass the bound together.
        if rows.filter(holder=holder, expires__gt=now).count() > mcp_settings.MAX_KEPT_PROGRAMS:
            self.refusal = str(LimitReached("MAX_KEPT_PROGRAMS").detail)
            row.delete()
            return ""
        return signing.Signer(salt=SIGNER).sign(nonce)

    def read(self, text: str) -> dict[str, Any]:
        row = self._find_rows(text).first()
        state: dict[str, Any] = {} if row is None else json.loads(row.state)
        if state.get("rights") != self.rights:
            raise Gone
        return state

    def claim(self, text: str) -> None:
        # One of several calls at a time deletes the row.
        if not self._find_rows(text).delete()[0]:
            raise Gone

    def _find_rows(self, text: str) -> Any:
        try:
            nonce = signing.Signer(salt=SIGNER).unsign(text)
        except signing.BadSignature:
            raise Gone from None
        if not (owner := self.owner):
            raise Gone
        return _find_kept_programs().filter(pk=nonce, owner=owner, expires__gt=timezone.now())

    def check_terms(self, tool: Any, terms: Mapping[str, Any]) -> None:
        if tool is None or not StoredAnswer.may_read(self.caller, tool, terms):
            raise Gone


def _find_kept_programs() -> Any:
    return get_rows("drf_mcp_compose.KeptProgram")
