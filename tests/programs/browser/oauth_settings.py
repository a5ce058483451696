"""The example shop where agents are connected by signing in, with static files served."""

from __future__ import annotations

import os

os.environ["SHOP_OAUTH"] = "1"

from tests.programs.browser.settings import *  # noqa: F403
