"""Follows the tutorial: writes its files, runs its commands, compares their output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.programs.interop.servers import ROOT, free_port, wait_until_ready

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
PROGRAMS = {"python": [], "django-admin": ["-m", "django"]}
# Programs that are not installed for the tests.
LEFT_OUT = ("pip", "claude")
# The address of the server on the page.
ADDRESS = "127.0.0.1:8000"

TOKEN = re.compile(r"\b[0-9a-f]{40}\b")
# Values that differ at every run, and their replacements.
VARYING = [
    (TOKEN, "TOKEN"),
    (re.compile(r"req_[0-9]{12}"), "REQUEST"),
    (re.compile(r"(?<=_ms\": )[\d.]+"), "MS"),
    (re.compile(r"(?<=tests in )[\d.]+"), "SECONDS"),
]


class Reader:
    """Follows the tutorial in a folder.

    Attributes:
        path: the import path of packages that are not installed, "" for none.
        place: the current folder.
    """

    def __init__(self, folder: Path, python: str = sys.executable, path: str = str(ROOT)) -> None:
        self.python = python
        self.path = path
        self.place = folder
        self.port = free_port()
        self.token = ""
        self.server: subprocess.Popen | None = None

    @property
    def environment(self) -> dict[str, str]:
        environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
        chosen = {"PYTHONPATH": self.path, "PYTHONUTF8": "1", "COLUMNS": "80"}
        return {**environment, **chosen, "DJANGO_SUPERUSER_PASSWORD": "lamp"}

    def write(self, text: str) -> None:
        name, rest = re.match(r"# (\S+\.py)(.*)", text).groups()
        text = text.replace(ADDRESS, f"127.0.0.1:{self.port}")
        with (self.place / name).open("a" if "at the end" in rest else "w") as file:
            file.write(text)

    def follow(self, until: str | None = None) -> None:
        """Follow the page in its order.

        Args:
            until: a part of the last command to run, None for all commands.
        """
        for kind, text in BLOCK.findall(PAGE):
            if kind == "python":
                self.write(text)
                continue
            for command, expected in commands(text):
                self.run(command, expected)
                if until and until in command:
                    return
        assert until is None

    def run(self, command: str, expected: str) -> None:
        words = shlex.split(TOKEN.sub(lambda found: self.token, command))
        if words[0] in LEFT_OUT:
            return
        if words[0] == "cd":
            self.place /= words[1]
        elif words[-1] == "runserver":
            self.serve()
        else:
            output = self.output_of(words, 1 if '"success": false' in expected else 0)
            assert not expected or shown(expected).fullmatch(replace_varying(output)), output

    def output_of(self, words: list[str], status: int) -> str:
        if "createsuperuser" in words:
            words = [*words, "--noinput"]
        process = subprocess.run(
            [self.python, *PROGRAMS[words[0]], *words[1:]],
            cwd=self.place,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert process.returncode == status, process.stdout
        if "drf_create_token" in words:
            self.token = TOKEN.search(process.stdout)[0]
        return process.stdout

    def serve(self) -> None:
        """Start the server."""
        log = self.place / "server.log"
        with log.open("wb") as output:
            self.server = subprocess.Popen(
                [self.python, "manage.py", "runserver", str(self.port), "--noreload"],
                cwd=self.place,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until_ready(self.server, self.port, log)


def commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, output = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.S).groups()
        yield command.replace("\\\n", " "), output


def replace_varying(text: str) -> str:
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def shown(expected: str) -> re.Pattern[str]:
    lines = replace_varying(expected).splitlines()
    pattern = (r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in lines)
    return re.compile("".join(pattern))
