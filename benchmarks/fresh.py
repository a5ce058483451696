"""What a new process takes: its start with a first call, or the description of many tools.

``python -m benchmarks.fresh KIND`` measures the process that it runs in.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from types import ModuleType
from typing import Any

import django
from django.conf import settings

# The kinds of a bare project: without the app, and with it.
PLAIN, SERVED = "plain", "served"
DESCRIBED = 1002
DJANGO = ("django.contrib.auth", "django.contrib.contenttypes")


def run(kind: str) -> tuple[float, float]:
    """Return the processor seconds and the megabytes of a process."""
    command = [sys.executable, "-m", "benchmarks.fresh", kind]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def main(kind: str) -> None:
    started = time.process_time()
    if kind == "describe":
        started = describe()
    else:
        start(kind)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps([time.process_time() - started, peak]))


def describe() -> float:
    """List many tools to a stranger, and return the processor time at which that began."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    from django.test import override_settings

    from benchmarks.many import ANYBODY, make_urlconf
    from benchmarks.requests import Client, Server

    override_settings(
        ROOT_URLCONF=make_urlconf(DESCRIBED, ANYBODY),
        DRF_MCP={"EXPOSE": "urlconf", "PERMISSION_CLASSES": [], "ARCHIVE_CLASS": None},
    ).enable()
    server, request = Server(), Client("").listing()
    server.handler.load_middleware()
    started = time.process_time()
    _, content = server.answer(request.environment())
    found = len(json.loads(content)["result"]["tools"])
    if found != DESCRIBED:
        raise RuntimeError(f"{found} tools are listed: {content[:500]!r}")
    return started


def start(kind: str) -> None:
    """Answer one request of a project of one viewset, which needs no database."""
    served = [] if kind == PLAIN else ["drf_mcp"]
    urlconf = ModuleType("bare")
    settings.configure(
        INSTALLED_APPS=[*DJANGO, "rest_framework", *served],
        ROOT_URLCONF=urlconf,
        ALLOWED_HOSTS=["localhost"],
        REST_FRAMEWORK={"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None},
        DRF_MCP={"EXPOSE": "urlconf", "PERMISSION_CLASSES": []},
        SECRET_KEY="a benchmark",
    )
    django.setup()
    urlconf.urlpatterns = make_bare_urls(served)  # type: ignore[attr-defined]
    from benchmarks.requests import Client, Server

    stranger = Client("")
    request = stranger.call("words_list", {}) if served else stranger.plain("GET", "/words/")
    status, content = Server().answer(request.environment())
    if status != 200 or b"isError" in content:
        raise RuntimeError(content)


def make_bare_urls(served: list[str]) -> list[Any]:
    from django.urls import include, path
    from rest_framework import routers, serializers, viewsets
    from rest_framework.response import Response

    class WordSerializer(serializers.Serializer):
        word = serializers.CharField()

    class WordViewSet(viewsets.GenericViewSet):
        serializer_class = WordSerializer

        def list(self, request: Any) -> Response:
            return Response(self.get_serializer([{"word": "a"}], many=True).data)

    router = routers.SimpleRouter()
    router.register("words", WordViewSet, basename="words")
    return [*router.urls, *(path("", include(f"{app}.urls")) for app in served)]


if __name__ == "__main__":
    main(sys.argv[1])
