"""Sends inputs to the project's WSGI application, and counts the answers."""

from __future__ import annotations

import io
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.test import override_settings
from jsonschema import ValidationError

from tests.fuzz.judge import Answer, Judge
from tests.fuzz.mutations import Input, Mutator
from tests.fuzz.planted import SENT, find_secrets, plant_rows
from tests.fuzz.recordings import Recorder
from tests.oracles.watching import Watch

ENVIRONMENT = {
    "SCRIPT_NAME": "",
    "QUERY_STRING": "",
    "SERVER_NAME": "testserver",
    "SERVER_PORT": "80",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "wsgi.url_scheme": "http",
}
PLANTED = "planted_failure"


class RollBack(Exception):
    """Rolls back a savepoint."""


class LogReader(logging.Handler):
    """Finds line breaks, crashes and the secret of an input in the package's log."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Check one record."""
        message = record.getMessage()
        if not message.isprintable():
            self.faults.append(f"a log record with control characters: {message!r}")
        if SENT in message:
            self.faults.append("a secret in the log")
        if record.exc_info and "planted_failure" not in message:
            self.faults.append(f"a crash: {record.exc_info[1]!r}")


@dataclass
class Report:
    """The results of the inputs.

    Attributes:
        verdicts: the number of answers by verdict.
        faults: the faults by the number of the input.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    faults: dict[int, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of inputs."""
        return self.verdicts.total()

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        for verdict, count in sorted(self.verdicts.items(), key=lambda pair: (-pair[1], pair[0])):
            yield f"{count:8,}  {verdict}"
        yield f"{self.count:8,}  inputs, {len(self.faults)} of them answered wrongly"
        for number, faults in self.faults.items():
            yield f"input {number}: {'; '.join(faults)}"


class Fuzz:
    """Mutates recorded messages and judges the answers.

    Args:
        seed: determines the inputs, together with their numbers.
        watch: validates each message of the server with the official types.
    """

    def __init__(self, seed: int, watch: Watch) -> None:
        self.watch = watch
        self.application = WSGIHandler()
        self.mutator = Mutator(Recorder().record(), seed)
        self.judge = Judge(find_secrets())
        self.log = LogReader()

    def run(self, numbers: range) -> Report:
        """Send the inputs of these numbers."""
        report = Report()
        with self.recording_log_faults():
            for number in numbers:
                sent = self.mutator.draw(number)
                answer, faults = self.try_input(sent)
                report.verdicts[self.judge.get_verdict(answer)] += 1
                if faults:
                    how = ", ".join(sent.mutations) or "as recorded"
                    report.faults[number] = [how, *dict.fromkeys(faults)]
        return report

    @contextmanager
    def recording_log_faults(self) -> Iterator[None]:
        logger = logging.getLogger("drf_mcp")
        propagate, logger.propagate = logger.propagate, False
        logger.addHandler(self.log)
        try:
            yield
        finally:
            logger.removeHandler(self.log)
            logger.propagate = propagate

    def try_input(self, sent: Input) -> tuple[Answer, list[str]]:
        """Send one input, roll back its writes, and return the answer and its faults."""
        self.log.faults = []
        cache.clear()
        try:
            with transaction.atomic():
                answer = self.send(sent)
                raise RollBack
        except RollBack:
            pass
        faults = [*self.judge.find_faults(sent, answer), *self.log.faults]
        try:
            self.watch.judge()
        except (ValueError, AssertionError, ValidationError) as exc:
            faults.append(f"no message of its revision: {str(exc)[:500]}")
        return answer, faults

    def send(self, sent: Input) -> Answer:
        """Return the answer of the application."""
        begun: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], *rest: Any) -> None:
            begun["status"] = int(status.partition(" ")[0])
            begun["headers"] = {name.lower(): value for name, value in headers}

        response = self.application(self.get_environment(sent), start_response)
        body = b"".join(response)
        response.close()
        return Answer(begun["status"], begun["headers"], body)

    def get_environment(self, sent: Input) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", **sent.recording.headers}
        headers.setdefault("Content-Length", str(len(sent.body)))
        named = {name.upper().replace("-", "_"): value for name, value in headers.items()}
        for name in named.keys() - {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            named[f"HTTP_{name}"] = named.pop(name)
        # As a server passes them on: in Latin-1, and without line breaks.
        method, path = sent.recording.method, sent.recording.path
        stream = {"wsgi.input": io.BytesIO(sent.body), "wsgi.errors": io.StringIO()}
        return {**ENVIRONMENT, "REQUEST_METHOD": method, "PATH_INFO": path, **named, **stream}


@contextmanager
def planted_project() -> Iterator[None]:
    """Serve the example project with the planted view and rows."""
    with override_settings(ROOT_URLCONF="tests.fuzz.planted"):
        plant_rows()
        yield
