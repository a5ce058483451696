"""Routes for the probes of Kubernetes and load balancers, which need no credential::

    path("mcp/", include("drf_mcp.urls.health")),

``mcp/health/`` answers 200 while the process answers; ``mcp/ready/`` answers 503 while a database
that signing in or this package needs does not answer, or a cache that throttles count in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connections, router
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import re_path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.settings import api_settings

from drf_mcp.exceptions import catch
from drf_mcp.settings import mcp_settings
from drf_mcp.views import without_login_and_transaction

logger = logging.getLogger("drf_mcp")


@never_cache
@require_safe
def show_health(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def show_readiness(request: HttpRequest) -> HttpResponse:
    failed: dict[str, None] = {}
    for part, ask in _find_needed_parts():
        with catch() as caught:
            ask()
            continue
        # Only the log has the text of the exception, which names hosts and users.
        logger.warning("The %s does not answer a probe: %s", part, caught.exception)
        failed[part] = None
    if failed:
        return JsonResponse({"status": "unavailable", "failed": list(failed)}, status=503)
    return JsonResponse({"status": "ok"})


def _find_needed_parts() -> Iterator[tuple[str, Callable[[], Any]]]:
    for alias in {
        router.db_for_write(model)
        for model in apps.get_models()
        if model._meta.label == settings.AUTH_USER_MODEL
        or model._meta.app_label.startswith("drf_mcp")
    }:
        yield "database", partial(_ask_database, alias)
    for throttle in {*mcp_settings.THROTTLE_CLASSES, *api_settings.DEFAULT_THROTTLE_CLASSES}:
        if cache := getattr(throttle, "cache", None):
            yield "cache", partial(cache.get, "drf_mcp:ready")


def _ask_database(alias: str) -> None:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT 1" + connections[alias].features.bare_select_suffix)


app_name = "drf_mcp_health"
urlpatterns = [
    re_path(r"^health/?$", without_login_and_transaction(show_health), name="health"),
    re_path(r"^ready/?$", without_login_and_transaction(show_readiness), name="ready"),
]
