"""Every command, option and exit code is documented."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

PAGE = (Path(settings.BASE_DIR) / "docs" / "commands.md").read_text()
# The apps by the names of their commands, but for those that a page of their app documents.
COMMANDS = {name: app for name, app in get_commands().items() if str(app).startswith("drf_mcp")}
del COMMANDS["mcp_token"], COMMANDS["mcp_rules"], COMMANDS["mcp_proposals"]


def options_of(command: BaseCommand) -> set[str]:
    actions = command.create_parser("manage.py", "command")._actions
    return {option for action in actions for option in action.option_strings}


def section(name: str) -> str:
    (found,) = re.findall(rf"^## `{name}`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found


def documented(name: str) -> set[str]:
    names = re.findall(r"^\| (`--.+?) \|", section(name), re.M)
    return set(re.findall(r"`(--[a-z]+)", " ".join(names)))


def test_every_option_of_every_command_is_documented():
    shared = options_of(BaseCommand())
    options = {
        name: options_of(load_command_class(app, name)) - shared for name, app in COMMANDS.items()
    }
    assert {name: documented(name) for name in COMMANDS} == options


def test_every_command_says_what_its_exit_codes_mean():
    assert [name for name in COMMANDS if "Exit codes:" not in section(name)] == []


def test_the_page_speaks_of_no_other_commands():
    assert re.findall(r"^## `(\w+)`", PAGE, re.M) == sorted(COMMANDS, key=PAGE.index)
