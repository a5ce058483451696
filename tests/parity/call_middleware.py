"""Middleware that decides by path, in every form that Django supports."""

from __future__ import annotations

import json

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import MiddlewareNotUsed, PermissionDenied
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import resolve
from django.utils import timezone, translation
from django.utils.decorators import async_only_middleware, sync_and_async_middleware

from drf_mcp.views import MCPView

made: list[str] = []
seen: list[tuple] = []


def first_segments(request) -> list[str]:
    return [*request.path_info.strip("/").split("/"), "", ""]


class Passing:
    """Passes requests on."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)


class TenantMiddleware(Passing):
    """Sets the tenant of the path, and answers an unknown tenant with a page."""

    def __init__(self, get_response):
        made.append("tenant")
        super().__init__(get_response)

    def __call__(self, request):
        kind, tenant, *_ = first_segments(request)
        if kind == "tenants":
            if tenant == "nobody":
                return HttpResponse("<html><h1>No such shop</h1></html>", status=404)
            request.tenant = tenant
        return super().__call__(request)


def language_middleware(get_response):
    def middleware(request):
        language, *_ = first_segments(request)
        if language in ("de", "fr"):
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
            timezone.activate("Asia/Tokyo")
        return get_response(request)

    return middleware


class LockMiddleware(Passing):
    """Refuses a tenant that it finds by resolving the path."""

    def __call__(self, request):
        if resolve(request.path_info).kwargs.get("tenant") == "locked":
            raise PermissionDenied("This shop is locked.")
        return self.get_response(request)


class ViewMiddleware(Passing):
    """Answers in process_view."""

    def __call__(self, request):
        assert request.resolver_match is None
        return self.get_response(request)

    def process_view(self, request, view_func, view_args, view_kwargs):
        name = getattr(view_func, "cls", MCPView).__name__
        seen.append((name, view_args, view_kwargs, request.resolver_match.route))
        if view_kwargs.get("tenant") == "gone":
            return JsonResponse({"detail": "This shop has moved."}, status=410)


class RescueMiddleware(Passing):
    """Answers in process_exception."""

    def process_exception(self, request, exception):
        if isinstance(exception, LookupError):
            return JsonResponse({"detail": f"Rescued: {exception.args[0]}"}, status=409)


class TemplateMiddleware(Passing):
    """Changes the data in process_template_response."""

    def process_template_response(self, request, response):
        if isinstance(response.data, dict):
            response.data["rendered_by"] = "template"
        return response


class KeyMiddleware(Passing):
    """Adds a key to every JSON object."""

    def __call__(self, request):
        response = self.get_response(request)
        if response.get("Content-Type") == "application/json" and not response.streaming:
            body = json.loads(response.content)
            if isinstance(body, dict) and "jsonrpc" not in body:
                response.content = json.dumps({**body, "served_by": "shop-1"})
        return response


class StatusMiddleware(Passing):
    """Notes the status of each response."""

    def __call__(self, request):
        response = self.get_response(request)
        seen.append((request.path, response.status_code))
        return response


def crash_page_middleware(get_response):
    def middleware(request):
        response = get_response(request)
        if response.status_code == 500:
            return JsonResponse({"detail": "Ask the shop."}, status=503)
        return response

    return middleware


def broken_middleware(get_response):
    def middleware(request):
        if request.path_info.startswith("/tenants/broken/"):
            raise ZeroDivisionError("secret")
        return get_response(request)

    return middleware


def login_middleware(get_response):
    def middleware(request):
        if request.path_info.startswith("/tenants/private/") and request.user.is_anonymous:
            return HttpResponseRedirect("/login/")
        return get_response(request)

    return middleware


def urlconf_middleware(get_response):
    def middleware(request):
        _, tenant, *_ = first_segments(request)
        if tenant in URLCONFS:
            request.urlconf = URLCONFS[tenant]
        return get_response(request)

    return middleware


URLCONFS: dict[str, object] = {}


@async_only_middleware
def async_tenant_middleware(get_response):
    assert iscoroutinefunction(get_response)

    async def middleware(request):
        _, request.tenant, *_ = first_segments(request)
        return await get_response(request)

    return middleware


@sync_and_async_middleware
def both_middleware(get_response):
    if iscoroutinefunction(get_response):

        async def middleware(request):
            _, request.tenant, *_ = first_segments(request)
            return await get_response(request)
    else:

        def middleware(request):
            _, request.tenant, *_ = first_segments(request)
            return get_response(request)

    return middleware


class AsyncHooksMiddleware:
    """Is asynchronous only, and so is its process_view."""

    async_capable = True
    sync_capable = False

    def __init__(self, get_response):
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request):
        return await self.get_response(request)

    async def process_view(self, request, view_func, view_args, view_kwargs):
        request.tenant = view_kwargs.get("tenant")


class NeitherMiddleware:
    """Supports neither synchronous nor asynchronous requests."""

    async_capable = False
    sync_capable = False


def unused_middleware(get_response):
    made.append("unused")
    raise MiddlewareNotUsed


def missing_middleware(get_response):
    """Returns None."""
