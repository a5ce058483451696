"""The shop, with a tool that counts for some seconds."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403

ROOT_URLCONF = "tests.programs.interop.counting_urls"
