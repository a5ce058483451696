"""The example shop as an authorization server, as ``make demo OAUTH=1`` starts it."""

from __future__ import annotations

import os

os.environ["SHOP_OAUTH"] = "1"

from example_project.settings import *  # noqa: F403
