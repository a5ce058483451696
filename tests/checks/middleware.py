"""Middleware that redirects, or only sounds like it."""

from __future__ import annotations

from django.contrib.auth.middleware import LoginRequiredMiddleware


class RequireLogin:
    """Send everybody to a login page."""


class ForcePasswordChangeMiddleware:
    """Send people with an old password to a form."""


class OwnLoginRequiredMiddleware(LoginRequiredMiddleware):
    def process_view(self, request, view_func, view_args, view_kwargs): ...


class HouseLoginRequiredMiddleware(LoginRequiredMiddleware):
    redirect_field_name = "to"


class AuthenticationMiddleware:
    """Finds out who is calling."""


class BearerAuthMiddleware:
    """Finds out who is calling."""


def login_required_middleware(get_response):
    """Send everybody to a login page."""
    return get_response
