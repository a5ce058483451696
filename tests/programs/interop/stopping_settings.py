"""The shop with a cache that its processes share, and tools that take long."""

from __future__ import annotations

import os
from pathlib import Path

from example_project.settings import *  # noqa: F403

ROOT_URLCONF = "tests.programs.interop.stopping_urls"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": Path(os.environ["SHOP_DB"]).with_name("cache"),
    }
}
