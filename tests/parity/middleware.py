"""Middleware that sets attributes which views read."""

from __future__ import annotations

from django.utils.functional import SimpleLazyObject


def tenant_middleware(get_response):
    def middleware(request):
        request.GET, request.POST, request.FILES, request.headers, request.encoding  # noqa: B018
        request.get_preferred_type(["text/plain"])
        request.tenant = request.headers.get("X-Tenant", "none")
        request.lazy_tenant = SimpleLazyObject(lambda: request.tenant.upper())
        return get_response(request)

    return middleware


def urlconf_middleware(get_response):
    def middleware(request):
        if "X-Urlconf" in request.headers:
            request.urlconf = URLCONFS[request.headers["X-Urlconf"]]
        return get_response(request)

    return middleware


URLCONFS: dict[str, object] = {}
