"""One authentication for the endpoint and for a view with steps of its own before the view's."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

# What a request of REST framework gets by authenticating.
IDENTITY = frozenset({"_user", "_auth", "_authenticator"})


class UnreadBody(BaseParser):
    # The body is a message, not a form that could hold a CSRF token.
    media_type = "*/*"
    was_read = False

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> QueryDict:
        self.was_read = True
        return QueryDict()


class Introduction:
    """Authenticates the request of a view before any code of the view runs.

    Args:
        request: the `ToolRequest`, whose caller is admitted, or refused, meanwhile.
    """

    def __init__(self, request: Any) -> None:
        self.request = request
        self.body = UnreadBody()
        made = [each() for each in request.caller.authentication_classes]
        self.known: Any = Request(request, parsers=[self.body], authenticators=made)
        self.names = {*vars(self.known), *IDENTITY}

    def find_authenticators(self) -> list[BaseAuthentication] | None:
        """Return authenticators that find the same without asking anybody.

        None where the view has to ask for itself: where an authenticator read the body, or left
        something else on the request of REST framework.

        Raises:
            APIException: if the caller is not let in.
        """
        given, known = dict(vars(self.request)), self.known
        known.user  # noqa: B018 - reading it authenticates
        # The view sees the user that middleware gave it until it authenticates, and reads anew what
        # Django keeps of ``META``, which it may change.
        for name in ("user", "auth", "headers", "GET"):
            vars(self.request).pop(name, None)
            if name in given:
                vars(self.request)[name] = given[name]
        if self.body.was_read or not self.names.issuperset(vars(known)):
            return None
        for each in known.authenticators:
            is_who = each is known.successful_authenticator
            found = (known.user, known.auth) if is_who else None
            each.authenticate = lambda request, found=found: found
        return list(known.authenticators)
