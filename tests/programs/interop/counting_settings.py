"""The shop, with tools that count for some seconds and that wait for their user."""

from __future__ import annotations

import os
from pathlib import Path

from example_project.settings import *  # noqa: F403

ROOT_URLCONF = "tests.programs.interop.counting_urls"
CACHES = {
    "default": {
        # Processes share it, so that clients can listen.
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": Path(os.environ["SHOP_DB"]).with_name("cache"),
    }
}
