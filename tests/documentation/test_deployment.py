"""The page about deployment shows the settings and commands of tests/services."""

from __future__ import annotations

from typing import Any

from example_project import production
from tests.documentation.pages import DOCS, blocks
from tests.services.machines import COMMANDS

PAGE = DOCS / "deployment.md"
# Only tests need these: gunicorn's socket would be in the home directory, and uvicorn logs much.
LEFT_OUT = (" --no-control-socket", " --log-level warning")


def find_block(part: str) -> str:
    (found,) = (block.text for block in blocks(PAGE) if part in block.text)
    return found


def test_the_servers_start_with_the_commands_of_the_page():
    shown = find_block("gunicorn example_project").splitlines()
    for command, port in zip(COMMANDS.values(), (8101, 8102), strict=True):
        line = command.format(host="127.0.0.1", port=port)
        for option in LEFT_OUT:
            line = line.replace(option, "")
        assert line in shown


def test_the_settings_are_those_of_the_page():
    shown: dict[str, Any] = {}
    exec(find_block("DATABASES = {"), shown)
    for name in ("DATABASES", "CACHES", "TASKS", "DEBUG"):
        assert shown[name] == getattr(production, name)
    assert shown["DRF_MCP"].items() <= production.DRF_MCP.items()
