"""The shop with its page, in the language that the browser asks for."""

from __future__ import annotations

from tests.programs.browser.settings import *  # noqa: F403
from tests.programs.browser.settings import MIDDLEWARE

SESSIONS = "django.contrib.sessions.middleware.SessionMiddleware"
place = MIDDLEWARE.index(SESSIONS) + 1
LOCALE = "django.middleware.locale.LocaleMiddleware"
MIDDLEWARE = [*MIDDLEWARE[:place], LOCALE, *MIDDLEWARE[place:]]
