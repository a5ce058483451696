"""Middleware that redirects, and middleware that only has such a name."""

from __future__ import annotations

from django.contrib.auth.middleware import LoginRequiredMiddleware


class RequireLogin:
    """Redirect every request to a login page."""


class ForcePasswordChangeMiddleware:
    """Redirect users with an old password to a form."""


class OwnLoginRequiredMiddleware(LoginRequiredMiddleware):
    def process_view(self, request, view_func, view_args, view_kwargs): ...


class HouseLoginRequiredMiddleware(LoginRequiredMiddleware):
    redirect_field_name = "to"


class AuthenticationMiddleware:
    """Authenticates the caller."""


class BearerAuthMiddleware:
    """Authenticates the caller."""


def login_required_middleware(get_response):
    """Redirect every request to a login page."""
    return get_response
