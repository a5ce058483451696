"""What a redirect says of a call: it needs a login, it was not carried out, or it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch
from rest_framework.permissions import SAFE_METHODS

# Login pages of Django, its admin, REST framework and django-allauth, by their names.
LOGIN_NAMES = ("login", "admin:login", "rest_framework:login", "account_login")
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
    """Return whether a redirect leads to a login page.

    Args:
        path: the path of the request. A login page gets it to lead back there.
    """
    parts = urlsplit(location)
    is_page = parts.path in _find_login_paths() or LOGIN.search(parts.path)
    if is_page and not ENDS_THERE.search(path):
        return True
    back = parse_qs(parts.query).get(REDIRECT_FIELD_NAME, ())
    return any(urlsplit(each).path == path for each in back)


def _find_login_paths() -> Iterator[str]:
    for name in (settings.LOGIN_URL, *LOGIN_NAMES):
        try:
            yield urlsplit(resolve_url(name)).path
        except NoReverseMatch:
            continue


def is_moved(status: int, method: str) -> bool:
    """Return whether a redirect says that a request that changes something was not made."""
    return status in MOVED and method not in SAFE_METHODS
