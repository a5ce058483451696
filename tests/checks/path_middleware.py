"""Middleware that reads the path, and middleware that does not."""

from __future__ import annotations

import logging

from django.urls import resolve
from django.utils.deprecation import MiddlewareMixin

logger = logging.getLogger(__name__)
ADMIN = ("admin/", "accounts/")


class ReadsPath:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        request.tenant = request.path_info.split("/")[1]
        return self.get_response(request)


class InheritsReading(ReadsPath):
    pass


class ReadsOnTheWayOut(MiddlewareMixin):
    def process_response(self, request, response):
        if request.get_full_path().startswith("/api/"):
            response["X-Api"] = "1"
        return response


class LooksAtTheView(MiddlewareMixin):
    def process_view(self, request, view_func, view_args, view_kwargs):
        request.tenant = view_kwargs.get("tenant")


class MarksTheRequest(MiddlewareMixin):
    """Gets the view, and does not use it."""

    def process_view(self, request, view_func, view_args, view_kwargs):
        request.is_marked = True


def resolving(get_response):
    def middleware(request):
        request.tenant = resolve(request.path).kwargs.get("tenant")
        return get_response(request)

    return middleware


def read_header(get_response):
    """Does not read the request's path, although it reads another path."""

    def middleware(request):
        request.tenant = request.headers.get("X-Tenant")
        request.folder = request.tenant and request.storage.path
        return get_response(request)

    return middleware


class LogsAndMeasures:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        logger.info("%s began", request.path)
        response = self.get_response(request)
        if request.path.startswith("/api/"):
            response["X-Api"] = "1"
        return response


class MindsTheAdmin:
    """Treats the paths of all tools, and of the endpoint, alike."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        here = request.path_info.lstrip("/")
        if here.startswith(ADMIN) or request.path in ("/healthz", "/metrics"):
            request.is_internal = True
        return self.get_response(request)


class MindsTheAPI(MindsTheAdmin):
    def __call__(self, request):
        request.is_api = request.path.startswith("/api/")
        return self.get_response(request)


class SetsProfile:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        request.user_profile = {"name": "Ann"}
        return self.get_response(request)


def set_profile(get_response):
    def middleware(request):
        setattr(request, "user_profile", {"name": "Ann"})  # noqa: B010
        return get_response(request)

    return middleware


class SetsTeam(MiddlewareMixin):
    def process_request(self, request):
        request.team = "red"


class SetsColour(MiddlewareMixin):
    def process_view(self, request, view_func, view_args, view_kwargs):
        request.colour = "red"
