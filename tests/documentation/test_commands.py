"""Every command and its exit codes are documented."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands

PAGE = (Path(settings.BASE_DIR) / "docs" / "commands.md").read_text()
# The apps of the commands, without those on the page of their own app.
COMMANDS = {name: app for name, app in get_commands().items() if str(app).startswith("drf_mcp")}
del COMMANDS["mcp_token"], COMMANDS["mcp_rules"], COMMANDS["mcp_proposals"]


def section(name: str) -> str:
    (found,) = re.findall(rf"^## `{name}`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found


def test_every_command_documents_its_exit_codes():
    assert [name for name in COMMANDS if "Exit codes:" not in section(name)] == []


def test_the_page_documents_every_command_and_no_other():
    assert re.findall(r"^## `(\w+)`", PAGE, re.M) == sorted(COMMANDS, key=PAGE.index)
