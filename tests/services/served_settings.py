"""The example shop on workers that can be killed between commit and answer."""

import os
import signal

from example_project.settings import *  # noqa: F403
from example_project.settings import MIDDLEWARE

MIDDLEWARE = ["tests.services.served_settings.kill_before_answer", *MIDDLEWARE]
if name := os.environ.get("DRF_MCP_SERVED_DATABASE"):
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": os.environ["DRF_MCP_TEST_POSTGRESQL"],
            "NAME": name,
            "USER": "postgres",
        }
    }


def kill_before_answer(get_response):
    """Kill the worker before its answer, if the request asks for that."""

    def middleware(request):
        response = get_response(request)
        if "X-Kill" in request.headers:
            os.kill(os.getpid(), signal.SIGKILL)
        return response

    return middleware
