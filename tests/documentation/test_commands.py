"""Every command and exit code is documented; the page of their options is rendered."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands

PAGE = (Path(settings.BASE_DIR) / "docs" / "commands.md").read_text()
# The apps by the names of their commands, but for those that a page of their app documents.
COMMANDS = {name: app for name, app in get_commands().items() if str(app).startswith("drf_mcp")}
del COMMANDS["mcp_token"], COMMANDS["mcp_rules"], COMMANDS["mcp_proposals"]


def section(name: str) -> str:
    (found,) = re.findall(rf"^## `{name}`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found


def test_every_command_says_what_its_exit_codes_mean():
    assert [name for name in COMMANDS if "Exit codes:" not in section(name)] == []


def test_the_page_speaks_of_no_other_commands():
    assert re.findall(r"^## `(\w+)`", PAGE, re.M) == sorted(COMMANDS, key=PAGE.index)
