"""How callers are turned away: the HTTP status, and what a client needs to get in."""

from __future__ import annotations

import re
from typing import Any

from django.utils.encoding import force_str
from django.utils.translation import gettext as _
from django.utils.translation import override
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.access.authentication import Caller
from drf_mcp.access.challenges import TOKEN, BearerChallenge
from drf_mcp.access.scopes import ScopeDenied, describe_scopes
from drf_mcp.exceptions import Refused
from drf_mcp.option_types.spelling import join_alternatives

BEARER = "Bearer"
CHALLENGE = f'{BEARER} realm="mcp"'
# The word before a credential, as far as an answer repeats it.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,19}")


class Refusal:
    """The answer to a caller who is not let into the endpoint.

    Args:
        caller: who is not let in.
        exc: why.
    """

    def __init__(self, caller: Caller, exc: APIException) -> None:
        self.caller = caller
        self.exc = exc
        self.is_unknown = isinstance(exc, (NotAuthenticated, AuthenticationFailed))

    @property
    def is_malformed(self) -> bool:
        token = self.caller.bearer
        return token is not None and not TOKEN.fullmatch(token)

    @property
    def status(self) -> int:
        if not self.is_unknown:
            return self.exc.status_code
        # RFC 6750, section 3.1.
        return 400 if self.caller.resource and self.is_malformed else 401

    @property
    def advice(self) -> str:
        """What a caller has to know whose credential nothing reads, "" for others."""
        sent = self.caller.request.META.get("HTTP_AUTHORIZATION", "").partition(" ")[0]
        taken = [challenge.split()[0] for challenge in self.own_challenges]
        if self.caller.resource is not None:
            taken.append(BEARER)
        if not isinstance(self.exc, NotAuthenticated) or not taken or not SCHEME.fullmatch(sent):
            return ""
        if sent.lower() in map(str.lower, taken):
            return ""
        names = join_alternatives(dict.fromkeys(taken))
        text = _("The Authorization header has to begin with %(taken)s, not with %(sent)s.")
        return text % {"taken": names, "sent": sent}

    @property
    def challenge(self) -> str:
        """The value of WWW-Authenticate, "" if there is nothing that a client could do."""
        resource = self.caller.resource
        if isinstance(self.exc, ScopeDenied) and resource:
            return str(get_scope_challenge(self.caller, self.exc.scopes))
        if not self.is_unknown:
            return ""
        own = self.own_challenges
        if resource is None:
            return own[0] if own else CHALLENGE
        bearer = next(filter(None, map(BearerChallenge.parse, own)), BearerChallenge())
        asked = {**self.error, **resource.challenge().parameters}
        parameters = {**self.error, **bearer.parameters, **asked}
        # Clients of OAuth look at the first challenge alone.
        others = [own[0]] if own and BearerChallenge.parse(own[0]) is None else []
        return ", ".join([str(BearerChallenge(parameters)), *others])

    @property
    def own_challenges(self) -> list[str]:
        request = self.caller.drf_request()
        headers = (a.authenticate_header(request) for a in self.caller.authenticators)
        return [str(header) for header in headers if header]

    @property
    def error(self) -> dict[str, str]:
        # RFC 6750, section 3: no error where no token was sent.
        if self.caller.bearer is None:
            return {}
        code = "invalid_request" if self.is_malformed else "invalid_token"
        detail: Any = self.exc.detail
        told = isinstance(self.exc, AuthenticationFailed) and isinstance(detail, str)
        return {"error": code, **({"error_description": force_str(detail)} if told else {})}


def get_scope_challenge(caller: Caller, scopes: tuple[str, ...]) -> BearerChallenge:
    assert caller.resource is not None
    # A header has no letters of other languages.
    with override("en"):
        error = {"error": "insufficient_scope", "error_description": describe_scopes(scopes)}
    return BearerChallenge({**error, **caller.resource.challenge(*scopes).parameters})


def refuse_scopes(caller: Caller, scopes: tuple[str, ...]) -> Refused:
    """Return the refusal of a call whose token lacks a scope (basic/authorization, "Runtime
    Insufficient Scope Errors")."""
    challenge = get_scope_challenge(caller, scopes)
    data = {"error": "insufficient_scope", "scope": challenge.parameters["scope"]}
    headers = {"WWW-Authenticate": str(challenge)}
    return Refused(403, describe_scopes(scopes), data=data, headers=headers)
