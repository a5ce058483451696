"""A view that prints, and one that waits."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

SECONDS_TO_WAIT = 20


class Noise(APIView):
    """Print in every possible way."""

    permission_classes = []

    def get(self, request) -> Response:
        print("printed")  # noqa: T201
        sys.__stdout__.write("printed to the real one\n")
        sys.__stdout__.flush()
        os.write(1, b"written to the descriptor\n")
        subprocess.run(["echo", "printed by a child"], check=True)
        warnings.warn("warned", stacklevel=1)
        logging.getLogger("noise").warning("logged")
        return Response({"read": sys.stdin.read(), "said": "ünïcode"})


class Wait(APIView):
    """Make a file and wait until it is deleted."""

    permission_classes = []

    def get(self, request, name: str) -> Response:
        flag = Path(os.environ["FLAGS"]) / name
        flag.touch()
        deadline = time.monotonic() + SECONDS_TO_WAIT
        while flag.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        (flag.parent / f"{name}.done").touch()
        return Response({"waited_for": name})


urlpatterns = [path("noise/", Noise.as_view()), path("wait/<str:name>/", Wait.as_view())]
