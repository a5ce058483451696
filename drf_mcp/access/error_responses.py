"""The HTTP status, the challenge and the data of errors for callers who lack access."""

from __future__ import annotations

import re
from typing import Any

from django.utils.encoding import force_str
from django.utils.translation import gettext as _
from django.utils.translation import override
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.access.authentication import Caller
from drf_mcp.access.resources import BEARER, TOKEN, BearerChallenge
from drf_mcp.access.scopes import ScopeDenied, describe_scopes
from drf_mcp.exceptions import Refused
from drf_mcp.option_types.spelling import join_alternatives

DEFAULT_CHALLENGE = f'{BEARER} realm="mcp"'
# The scheme of an Authorization header, as far as an error repeats it.
SENT_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,19}")


class AccessErrorResponse:
    """The response to a caller whom the endpoint refuses.

    Args:
        caller: the caller.
        exc: why the endpoint refuses the caller.
    """

    def __init__(self, caller: Caller, exc: APIException) -> None:
        self.caller = caller
        self.exc = exc
        self.is_unknown = isinstance(exc, (NotAuthenticated, AuthenticationFailed))
        token = caller.bearer
        self.is_malformed = token is not None and not TOKEN.fullmatch(token)

    @property
    def status(self) -> int:
        if not self.is_unknown:
            return self.exc.status_code
        # RFC 6750, section 3.1.
        return 400 if self.caller.resource and self.is_malformed else 401

    @property
    def advice(self) -> str:
        """A sentence for a caller with an unknown scheme in the Authorization header, or ""."""
        sent = self.caller.request.META.get("HTTP_AUTHORIZATION", "").partition(" ")[0]
        taken = [challenge.split()[0] for challenge in self._own_challenges]
        if self.caller.resource is not None:
            taken.append(BEARER)
        if not isinstance(self.exc, NotAuthenticated) or not taken:
            return ""
        if not SENT_SCHEME.fullmatch(sent) or sent.lower() in map(str.lower, taken):
            return ""
        names = join_alternatives(dict.fromkeys(taken))
        text = _("The Authorization header has to begin with %(taken)s, not with %(sent)s.")
        return text % {"taken": names, "sent": sent}

    @property
    def challenge(self) -> str:
        """The value of WWW-Authenticate, "" where another credential would change nothing."""
        resource = self.caller.resource
        if isinstance(self.exc, ScopeDenied) and resource:
            return str(_get_scope_challenge(self.caller, self.exc.scopes))
        if not self.is_unknown:
            return ""
        own = self._own_challenges
        if resource is None:
            return own[0] if own else DEFAULT_CHALLENGE
        bearer = next(filter(None, map(BearerChallenge.parse, own)), BearerChallenge())
        error = self._get_error_parameters()
        parameters = {**error, **bearer.parameters, **error, **resource.challenge().parameters}
        # Clients of OAuth look at the first challenge alone.
        others = [own[0]] if own and BearerChallenge.parse(own[0]) is None else []
        return ", ".join([str(BearerChallenge(parameters)), *others])

    @property
    def _own_challenges(self) -> list[str]:
        request = self.caller.drf_request()
        headers = (a.authenticate_header(request) for a in self.caller.authenticators)
        return [str(header) for header in headers if header]

    def _get_error_parameters(self) -> dict[str, str]:
        # RFC 6750, section 3: no error where no token was sent.
        if self.caller.bearer is None:
            return {}
        code = "invalid_request" if self.is_malformed else "invalid_token"
        detail: Any = self.exc.detail
        if not isinstance(self.exc, AuthenticationFailed) or not isinstance(detail, str):
            return {"error": code}
        return {"error": code, "error_description": force_str(detail)}


def _get_scope_challenge(caller: Caller, scopes: tuple[str, ...]) -> BearerChallenge:
    assert caller.resource is not None
    # A header has no letters of other languages.
    with override("en"):
        error = {"error": "insufficient_scope", "error_description": describe_scopes(scopes)}
    return BearerChallenge({**error, **caller.resource.challenge(*scopes).parameters})


def make_scope_error(caller: Caller, scopes: tuple[str, ...]) -> Refused:
    """Return the error of a call whose token lacks a scope (basic/authorization, "Runtime
    Insufficient Scope Errors")."""
    challenge = _get_scope_challenge(caller, scopes)
    data = {"error": "insufficient_scope", "scope": challenge.parameters["scope"]}
    headers = {"WWW-Authenticate": str(challenge)}
    return Refused(403, describe_scopes(scopes), data=data, headers=headers)
