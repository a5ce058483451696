"""``manage.py mcp_stdio`` as a subprocess, with one message a line."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agents import STATELESS
from tests.oracles.contract import is_response_v2, judge_response_v2
from tests.programs.interop.servers import ROOT, Shop

SECONDS = 30


def checked(answer: Any) -> Any:
    """Return a message or a batch, of which \"response-v2\" results are checked by the contract."""
    for message in answer if isinstance(answer, list) else [answer]:
        envelope = message.get("result", {}).get("structuredContent")
        if is_response_v2(envelope):
            judge_response_v2(envelope)
    return answer


class Process:
    """A running server.

    A thread reads every line as soon as the server writes it.
    """

    def __init__(self, process: subprocess.Popen, log: Path) -> None:
        self.process = process
        self.log = log
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.reader = threading.Thread(target=self.read_lines, daemon=True)
        self.reader.start()

    def read_lines(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def write(self, line: bytes) -> None:
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, method: str, id: Any = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if id is None else {**message, "id": id}).encode() + b"\n")

    def send_stateless(self, method: str, id: Any, **params: Any) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        self.send(method, id, _meta=meta, **params)

    def call(self, id: Any, tool: str, /, **arguments: Any) -> None:
        self.send("tools/call", id, name=tool, arguments=arguments)

    def answer(self) -> dict[str, Any]:
        line = self.lines.get(timeout=SECONDS)
        assert line, f"The server ended: {self.log.read_text()}"
        return checked(json.loads(line))

    def close(self) -> list[dict[str, Any]]:
        """Close stdin, and return the answers until the server ends."""
        self.process.stdin.close()
        return self.rest()

    def rest(self) -> list[dict[str, Any]]:
        answers = []
        while line := self.lines.get(timeout=SECONDS):
            answers.append(checked(json.loads(line)))
        self.process.wait(SECONDS)
        return answers


@contextmanager
def started(
    shop: Shop,
    log: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    first: Sequence[str] = (),
) -> Iterator[Process]:
    """Start a server of the shop, and kill it if it still runs after the block.

    ``first`` are arguments of Python before ``manage.py``.
    """
    command = [sys.executable, *first, "manage.py", "mcp_stdio", *arguments]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**shop.environment, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    try:
        yield Process(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        if not process.stdin.closed:
            process.stdin.close()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)
