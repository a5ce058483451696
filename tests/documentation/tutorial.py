"""Follows the tutorial: writes its files, runs its commands, compares their output.

Its second part says at which place a person signs in to a client; the Python SDK is that client.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from mcp.shared.auth import OAuthClientInformationFull

from tests.programs.interop.servers import ROOT, free_port, stop, wait_until_ready
from tests.programs.interop.test_own_sign_in import REDIRECT, SignIn, call, data_of

FIRST, SECOND = "tutorial.md", "tutorial_production.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
PROGRAMS = {"python": [], "django-admin": ["-m", "django"], "gunicorn": ["-m", "gunicorn"]}
# Programs that are not installed for the tests.
LEFT_OUT = ("pip", "claude")
# The address of the server on the page.
ADDRESS = "127.0.0.1:8000"

TOKEN = re.compile(r"\b[0-9a-f]{40}\b")
NOT_MADE = re.compile('"error_code": "(CONFIRMATION|APPROVAL)_REQUIRED')
PROPOSAL = re.compile(r"(?<![\w-])(?=[\w-]*[A-Z])[\w-]{22}(?![\w-])")
# Values that differ at every run, and their replacements.
VARYING = [
    (TOKEN, "TOKEN"),
    (PROPOSAL, "PROPOSAL"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "TIME"),
    (re.compile(r"[\d.]+(?= ms)"), "MS"),
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
        self.token, self.proposal = "", ""
        self.server: subprocess.Popen | None = None

    @property
    def environment(self) -> dict[str, str]:
        environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
        chosen = {"PYTHONPATH": self.path, "PYTHONUTF8": "1", "COLUMNS": "80"}
        return {**environment, **chosen, "DJANGO_SUPERUSER_PASSWORD": "ada"}

    def write(self, text: str) -> None:
        name, rest = re.match(r"# ([^\s,]+\.py)(.*)", text).groups()
        text = text.replace(ADDRESS, f"127.0.0.1:{self.port}")
        if below := re.match(", below (.+)", rest):
            _, line = text.splitlines()
            before = (self.place / name).read_text()
            text = re.sub(rf"^( +){below[1]} .*$", rf"\g<0>\n\g<1>{line}", before, flags=re.M)
        with (self.place / name).open("a" if "at the end" in rest else "w") as file:
            file.write(text)

    def follow(self, page: str = FIRST, until: str | None = None) -> None:
        """Follow a page in its order.

        Args:
            page: the name of the page.
            until: a part of the last command to run, None for all commands.
        """
        for kind, text in BLOCK.findall((ROOT / "docs" / page).read_text()):
            if kind == "python":
                self.write(text)
                continue
            for command, expected in commands(text):
                self.run(command, expected)
                if until and until in command:
                    return
        assert until is None

    def run(self, command: str, expected: str) -> None:
        command = TOKEN.sub(self.token, PROPOSAL.sub(self.proposal, command))
        words = shlex.split(command.replace(ADDRESS, f"127.0.0.1:{self.port}"))
        if words[:3] == ["claude", "mcp", "add"] and "--header" not in words:
            self.sign_in(words[-1])
        elif words[0] in LEFT_OUT:
            return
        elif words[0] == "cd":
            self.place /= words[1]
        elif words[-1] == "runserver":
            self.serve([*words, str(self.port), "--noreload"])
        elif words[0] == "gunicorn":
            # The socket would be in the home directory.
            self.serve([*words, "--no-control-socket"])
        else:
            failed = int('"success": false' in expected)
            # A call that has to be confirmed or approved first.
            status = 3 if NOT_MADE.search(expected) else failed
            output = self.output_of(words, status)
            assert not expected or shown(expected).fullmatch(replace_varying(output)), output

    def output_of(self, words: list[str], status: int) -> str:
        if "createsuperuser" in words:
            words = [*words, "--noinput"]
        process = subprocess.run(
            self.command_of(words),
            cwd=self.place,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert process.returncode == status, process.stdout
        if "drf_create_token" in words:
            self.token = TOKEN.search(process.stdout)[0]
        if found := PROPOSAL.search(process.stdout):
            self.proposal = found[0]
        return process.stdout

    def command_of(self, words: list[str]) -> list[str]:
        known = words[0] in PROGRAMS
        return [self.python, *PROGRAMS[words[0]], *words[1:]] if known else words

    def sign_in(self, url: str) -> None:
        """Sign in as ada with a client that an administrator added, and list her tasks."""
        added = ["public", "authorization-code", "--client-id=agent", f"--redirect-uris={REDIRECT}"]
        self.output_of(["python", "manage.py", "createapplication", *added], 0)
        client = SignIn(SimpleNamespace(url=url), "ada")
        client.memory.client = OAuthClientInformationFull(
            client_id="agent", redirect_uris=[REDIRECT], token_endpoint_auth_method="none"
        )
        (answer,) = client.send(call("tasks_list"))
        client.person.browser.close()
        assert [task["due"] for task in data_of(answer)["results"]] == ["2030-12-31"]

    def serve(self, words: list[str]) -> None:
        """Start the server, and stop the server of before."""
        if self.server is not None:
            stop(self.server)
        log = self.place / "server.log"
        with log.open("wb") as output:
            self.server = subprocess.Popen(
                self.command_of(words),
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
