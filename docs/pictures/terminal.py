"""Commands of the tutorial, recorded as a terminal shows them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import shlex
import struct
import subprocess
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.documentation.tutorial import BLOCK, FIRST, PROGRAMS, ROOT, Reader, commands

COLUMNS, ROWS = 96, 28
PROMPT = "$ "
# Commands of the tutorial, in the order in which they are shown.
SHOWN = (
    "python manage.py mcp_tools",
    'python manage.py mcp_call tasks_create title="Order a new lamp" priority=high --as ada',
    'python manage.py mcp_call tasks_create title="Order a new lamp" priority=urgent --as ada',
)
SECONDS_PER_KEY = 0.035
SECONDS_TO_RUN = 0.7
# Reading takes a while, and longer where there is more.
SECONDS_TO_READ, SECONDS_PER_LINE = 2.0, 0.12


@dataclass(frozen=True)
class Scene:
    """One command below the answers before it.

    Attributes:
        command: what is typed.
        output: what comes, colours included.
        answered: the second at which the output comes. That of the first command is 0: it was
            typed before the recording, which begins with an answer.
    """

    command: str
    output: str
    answered: float

    @property
    def typed(self) -> float:
        """The second at which the command stands there."""
        return self.answered - SECONDS_TO_RUN

    @property
    def begun(self) -> float:
        """The second at which typing begins."""
        return self.typed - len(self.command) * SECONDS_PER_KEY

    @property
    def end(self) -> float:
        """The second at which it has been read."""
        lines = self.output.count("\n")
        return round(self.answered + SECONDS_TO_READ + lines * SECONDS_PER_LINE, 3)


def record() -> list[Scene]:
    """Follow the tutorial as far as the recorded commands go."""
    outputs: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder))
        for kind, text in BLOCK.findall((ROOT / "docs" / FIRST).read_text()):
            if kind == "python":
                reader.write(text)
                continue
            for command, expected in commands(text):
                if command in SHOWN:
                    outputs[command] = in_terminal(command, reader)
                elif "runserver" in command:
                    return scenes(outputs)
                else:
                    reader.run(command, expected)
    raise AssertionError("The tutorial starts no server.")


def scenes(outputs: dict[str, str]) -> list[Scene]:
    """Return the scenes, one after the other: the last one first, so that no screen is empty."""
    found: list[Scene] = []
    for command in (SHOWN[-1], *SHOWN):
        seconds = len(command) * SECONDS_PER_KEY + SECONDS_TO_RUN
        answered = found[-1].end + seconds if found else 0.0
        found.append(Scene(command, outputs[command], answered))
    return found


def in_terminal(command: str, reader: Reader) -> str:
    """Run a command in a terminal and return what it showed."""
    words = shlex.split(command)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [reader.python, *PROGRAMS[words[0]], *words[1:]],
        cwd=reader.place,
        env={**reader.environment, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    output = b"".join(chunks(ours))
    os.close(ours)
    process.wait()
    return output.decode().replace("\r\n", "\n")


def chunks(terminal: int) -> Iterator[bytes]:
    """Yield what a terminal shows until the program has gone."""
    # Linux tells of the end by an error.
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65536):
            yield chunk


def cast(scenes: list[Scene]) -> str:
    """Return a recording in the form of asciinema, version 2."""
    lines = [json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "drf_mcp"})]
    shown = 0.0
    for scene in scenes:
        moments = [(shown, PROMPT), *events(scene)]
        lines += [json.dumps([round(max(at, 0), 3), "o", text]) for at, text in moments]
        shown = scene.answered
    # Players stay at the last answer until it has been read.
    lines.append(json.dumps([scenes[-1].end, "o", ""]))
    return "\n".join(lines) + "\n"


def events(scene: Scene) -> Iterator[tuple[float, str]]:
    """Yield what appears, and at which second; before the recording, if that is negative."""
    for place, key in enumerate(scene.command):
        yield scene.begun + place * SECONDS_PER_KEY, key
    yield scene.typed, "\r\n"
    yield scene.answered, scene.output.replace("\n", "\r\n")
