"""Try the README's first command in a clean clone, with every CPython of this machine.

For each of 3.11 to 3.14 that is installed, on the PATH or by pyenv: clone the checkout at its
last commit, run the command of the README as a newcomer would, paste what it prints into the
official Python client, call two tools, stop the server, and print one line. The exit status is
1 if any of that fails, or if no CPython is found.

Needs the package ``mcp`` beside the interpreter that runs it: ``make first-command``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MINORS = range(11, 15)
END = {"oldest": min, "newest": max}
# Prints the version of an interpreter with which a virtual environment can be made.
PROBE = (
    "import ensurepip, json, platform, sys, venv;"
    "print(json.dumps([platform.python_implementation(), *sys.version_info[:3]]))"
)
COMMAND = re.compile(r"^\$ (make [^#\n]*demo[^#\n]*)", re.M)
# Variables of another project, and those that `make` sets for its children.
NOT_OURS = re.compile(r"(?:DJANGO|SHOP|LIBRARY|MAKE|PYTHON|VIRTUAL_ENV|MFLAGS|PORT$|DRF_MCP|CI$)")
# A space in the path finds commands that forget to quote it.
CLONE = "a clean clone"
CALLS: dict[str, dict[str, Any]] = {
    "customers_list": {"tier": ["gold"], "page_size": 3},
    "ensemble_retriever": {"question": "What does the with statement do?"},
}
MOST_MEGABYTES = 150


class DemoFailed(Exception):
    """The first command did not do what the README says."""


@dataclass(frozen=True)
class Interpreter:
    """A CPython that virtual environments can be made with.

    Attributes:
        path: the program.
        version: such as ``(3, 12, 1)``.
    """

    path: Path
    version: tuple[int, int, int]

    def __str__(self) -> str:
        return "CPython " + ".".join(map(str, self.version))

    @classmethod
    def probe(cls, path: Path) -> Interpreter | None:
        """The interpreter at a path, None if it is none: shims of pyenv run only if selected."""
        try:
            printed = subprocess.run(
                [path, "-c", PROBE], capture_output=True, check=True, timeout=30
            ).stdout
            implementation, *version = json.loads(printed)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return cls(path, tuple(version)) if implementation == "CPython" else None


def find_interpreters() -> dict[int, Interpreter]:
    """The newest interpreter of each minor version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [
        *(Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder),
        *sorted(pyenv.glob("versions/*/bin")),
    ]
    names = ["python3", *(f"python3.{minor}" for minor in MINORS)]
    paths = {folder / name for folder in folders for name in names}
    found: dict[int, Interpreter] = {}
    for path in sorted(path for path in paths if path.exists()):
        interpreter = Interpreter.probe(path)
        if interpreter and interpreter.version[0] == 3 and interpreter.version[1] in MINORS:
            known = found.get(interpreter.version[1])
            if known is None or interpreter.version > known.version:
                found[interpreter.version[1]] = interpreter
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Demo:
    """A clean clone in which the first command runs.

    Attributes:
        clone: the clone.
        interpreter: what its virtual environment is made with.
        port: a free port.
        seconds: how long it may take until it answers.
    """

    clone: Path
    interpreter: Interpreter
    port: int
    seconds: float

    @property
    def log(self) -> Path:
        """All that the command prints."""
        return self.clone.parent / "printed.txt"

    @property
    def command(self) -> str:
        """The README's first command."""
        found = COMMAND.search((self.clone / "README.md").read_text())
        if found is None:
            raise DemoFailed("the README shows no command that starts the demo")
        return found[1].strip()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a Django developer who chooses an interpreter and a port."""
        kept = {name: value for name, value in os.environ.items() if not NOT_OURS.match(name)}
        chosen = {"PYTHON": str(self.interpreter.path), "PORT": str(self.port)}
        return {**kept, **chosen, "DJANGO_SETTINGS_MODULE": "their.own.settings"}

    @contextlib.contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the command until the block ends; afterwards none of its processes is left."""
        with self.log.open("wb") as output:
            process = subprocess.Popen(
                ["/bin/sh", "-c", self.command],
                cwd=self.clone,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            end_group(process)

    def configuration(self, process: subprocess.Popen[bytes]) -> Mapping[str, Any]:
        """Wait for the server; return what the command told to paste into a client."""
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise DemoFailed(f"`{self.command}` ended with status {process.returncode}")
            if answers(self.port):
                return self.printed_configuration()
            time.sleep(0.1)
        raise DemoFailed(f"`{self.command}` did not serve within {self.seconds:.0f} s")

    def printed_configuration(self) -> Mapping[str, Any]:
        """The first server of the JSON document among what was printed."""
        printed = self.log.read_text()
        try:
            document, _ = json.JSONDecoder().raw_decode(printed[printed.index('{"mcpServers"') :])
            (server,) = document["mcpServers"].values()
        except (LookupError, ValueError) as exc:
            raise DemoFailed("it prints no configuration for a client") from exc
        return server

    def try_it(self) -> str:
        """Run the command and call the tools; return what is worth knowing.

        Raises:
            DemoFailed: if something is not as the README says.
        """
        started = time.monotonic()
        with self.running() as process:
            server = self.configuration(process)
            served = time.monotonic() - started
            asyncio.run(asyncio.wait_for(call_tools(server), 60))
        self.check_stopped()
        size = megabytes(self.clone / ".venv")
        if size > MOST_MEGABYTES:
            raise DemoFailed(f".venv has {size} MB, more than {MOST_MEGABYTES}")
        return f"Django {self.django}, served after {served:.0f} s, .venv {size} MB"

    def check_stopped(self) -> None:
        """Raise `DemoFailed` if the server goes on: a kill takes a moment on a busy machine."""
        deadline = time.monotonic() + 10
        while answers(self.port):
            if time.monotonic() > deadline:
                raise DemoFailed("its server went on after it was stopped")
            time.sleep(0.1)

    @property
    def django(self) -> str:
        """The version of Django that was installed."""
        python = self.clone / ".venv" / "bin" / "python"
        command = [python, "-m", "django", "--version"]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


async def call_tools(server: Mapping[str, Any]) -> None:
    """Call tools with the official client as it was told to connect."""
    # Here, since most of what is tried fails before a client is needed.
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            envelope = result.structured_content or {}
            if result.is_error or not (envelope.get("success") and envelope.get("data")):
                raise DemoFailed(f"the tool {name} answered {envelope or result.content}")


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether somebody listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def megabytes(folder: Path) -> int:
    """The disk space of a folder, as ``du`` counts it."""
    blocks = sum(path.lstat().st_blocks for path in folder.rglob("*"))
    return blocks * 512 // 2**20


def try_with(interpreter: Interpreter, checkout: Path, seconds: float) -> bool:
    """Try the first command with one interpreter, print the line, return whether it works."""
    with tempfile.TemporaryDirectory(prefix="first-command-") as folder:
        demo = Demo(Path(folder) / CLONE, interpreter, free_port(), seconds)
        try:
            subprocess.run(["git", "clone", "--quiet", checkout, demo.clone], check=True)
            say(f"{interpreter}: {demo.try_it()}")
            return True
        except Exception as exc:  # noqa: BLE001 - whatever it is, the other interpreters are tried
            say(f"{interpreter}: FAILED: {causes(exc)}")
            if demo.log.exists():
                say("".join(f"    {line}\n" for line in demo.log.read_text().splitlines()[-25:]))
            return False


def causes(exc: BaseException) -> str:
    """An exception in a line, and those in its group."""
    inner = getattr(exc, "exceptions", None)
    if inner:
        return "; ".join(map(causes, inner))
    return str(exc) if isinstance(exc, DemoFailed) else repr(exc)


def say(line: str) -> None:
    """Print now, since the next line may take a minute."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Try every interpreter; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkout", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--seconds", type=float, default=300, help="until it has to serve")
    parser.add_argument("--minor", type=int, action="append", help="only 3.MINOR; may be repeated")
    parser.add_argument("--ends", action="store_true", help="only the oldest and the newest")
    parser.add_argument("--which", choices=END, help="print the path of this interpreter, no more")
    options = parser.parse_args()
    found = find_interpreters()
    if options.which:
        say(str(found[END[options.which](found)].path))
        return 0
    ends = sorted({min(found), max(found)}) if options.ends and found else None
    tried = {minor: found.get(minor) for minor in options.minor or ends or MINORS}
    worked = [
        try_with(interpreter, options.checkout, options.seconds)
        for interpreter in tried.values()
        if interpreter is not None
    ]
    missing = ", ".join(f"3.{minor}" for minor, interpreter in tried.items() if not interpreter)
    if missing:
        say(f"Not installed, not tried: CPython {missing}")
    return 0 if worked and all(worked) else 1


if __name__ == "__main__":
    sys.exit(main())
