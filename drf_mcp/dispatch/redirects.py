"""What a redirect says of a call: it needs a login, it was not carried out, or it was."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.shortcuts import resolve_url
from rest_framework.permissions import SAFE_METHODS

from drf_mcp.exceptions import attempt

LOGIN = re.compile(r"(?:^|[/_-])(?:log[_-]?in|sign[_-]?in|logon)(?:[/_.-]|\Z)", re.IGNORECASE)
# Requests that may end at the login page: it comes after a logout, a registration, a new password.
ENDS_THERE = re.compile(
    r"(?:^|[/_-])(?:(?:log|sign)[_-]?(?:out|off|up)|regist\w*|passwords?)(?:[/_.-]|\Z)",
    re.IGNORECASE,
)
# They say to make the request again at another place; 302 and 303 answer a request that was made.
MOVED = frozenset({301, 307, 308})
ELSEWHERE = (
    "Do not repeat the call: it was not carried out. Use the tool of the place that the message"
    " names, or report it."
)


def leads_to_login(location: str, path: str) -> bool:
    """Return whether a redirect of a request to a path leads to a login page."""
    parts = urlsplit(location)
    own = attempt(lambda: urlsplit(resolve_url(settings.LOGIN_URL)).path, "")
    if (parts.path == own or LOGIN.search(parts.path)) and not ENDS_THERE.search(path):
        return True
    # A login page gets the path to lead back there.
    back = parse_qs(parts.query).get(REDIRECT_FIELD_NAME, ())
    return any(urlsplit(each).path == path for each in back)


def is_moved(status: int, method: str) -> bool:
    """Return whether a redirect says that a request that changes something was not made."""
    return status in MOVED and method not in SAFE_METHODS
