"""Continuous integration runs every documented command, except those marked as nightly."""

from __future__ import annotations

import re

import pytest

from tests.programs.interop.servers import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
PAGES = {name: (ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md")}
# .ci/first_command.py runs the first command of the README.
RUN = "".join(
    (ROOT / ".ci" / name).read_text() for name in ("jobs", "advertised", "first_command.py")
)
# Commands that another command runs, as a prerequisite or as a part.
WITHIN = {"lint": "test", "node": "test-programs", "test-postgresql": "test-services"}
WITHIN |= {"test-sites": "test-services", "demo": "first-command"}
# A command that a test runs to read its output.
WITHIN |= {"access-matrix": "test-programs"}
COMMAND = re.compile(r"(?:make [a-z-]+|tox\b|\.venv/bin/python -m [\w.]+)")


def find_targets() -> dict[str, str]:
    """Return the comments of the phony targets of the Makefile."""
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)", MAKEFILE, re.M)[1].replace("\\\n", " ").split()
    found = {}
    for name in phony:
        comment, _ = re.search(rf"((?:^#.*\n)*)^{name}:( |$)", MAKEFILE, re.M).groups()
        found[name] = comment
    return found


def find_shown(page: str) -> set[str]:
    lines = re.findall(r"^\$ (.+)|^\| `(.+?)` \|", PAGES[page], re.M)
    return {found[0] for line in lines if (found := COMMAND.match("".join(line)))}


def is_nightly(command: str) -> bool:
    name = command.removeprefix("make ")
    row = re.search(rf"^\| `{re.escape(command)}` \|(.*)", PAGES["CONTRIBUTING.md"], re.M)
    words = find_targets().get(name, "") + (row[1] if row else "")
    return "nightly" in words.lower()


def is_run(command: str) -> bool:
    name = WITHIN.get(command.removeprefix("make "))
    words = re.escape(f"make {name}" if name else command)
    return bool(re.search(rf"^\s*{words}(?![\w-])", RUN, re.M))


SHOWN = sorted({f"make {name}" for name in find_targets()}.union(*map(find_shown, PAGES)))


@pytest.mark.parametrize("command", SHOWN)
def test_a_command_is_run_unless_it_is_marked_as_nightly(command):
    assert is_run(command) != is_nightly(command)


def test_commands_are_found_on_every_page():
    assert "make demo" in find_shown("README.md")
    assert {"tox", "make fuzz", ".venv/bin/python -m pytest"} <= find_shown("CONTRIBUTING.md")
