"""The example shop with sign-in for agents and with static files."""

from __future__ import annotations

import os

os.environ["SHOP_OAUTH"] = "1"

from tests.programs.browser.settings import *  # noqa: F403
