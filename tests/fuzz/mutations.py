"""Mutates requests: their JSON, their bytes, their headers and their credentials."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.fuzz.recordings import Recording

MOST = 3
NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 2**31, 2**63, 2**64, -(2**63) - 1, 10**40),
    *("", " ", "\0", "\ud800", "a" * 5000, "\r\nX-Injected: 1", "‮abc", "👩‍👩‍👧", "None", "null"),
    *("../../admin/", "..%2f..%2fadmin%2f", "/etc/passwd", "' OR ''='", "1; --", "{{7*7}}", "%s%n"),
    *(
        "<script>alert(1)</script>",
        "[]",
        "{}",
        '{"a":',
        "1e999",
        "\uff11\uff12",
        "٣",
        "-0",
        "0x10",
        "1_0",
    ),
    *("9999-12-31T23:59:60Z", "0000-00-00", "10000-01-01", "24:00", "P1Y", "[1,2", "a,b,,c", "*"),
    *("data:text/plain;base64,AAAA", "data:;base64,*", "sha256:" + "0" * 64, "=?base64?AAAA?="),
    *("2026-07-28", "2025-03-26", "1999-01-01", "tools/call", "customers_list", "initialize"),
    *([], {}, [[]], [None] * 50, {"a": {"b": {"c": [{}]}}}, {"": ""}, {"$ref": "#"}, ["a", 1]),
    *(float("nan"), float("inf"), {"__proto__": {"a": 1}}, {"__class__": "x"}, list(range(300))),
]
NAMES = ["id", "jsonrpc", "method", "params", "result", "error", "_meta", "arguments", "name"]
NAMES += ["cursor", "pk", "ids", "fields", "page", "page_size", "ordering", "search", "format"]
NAMES += ["", " ", "__class__", "a" * 300, "pk__in", "owner", "is_staff", "user__pk", "\0"]
VALUES = [
    "",
    " ",
    "\t",
    "null",
    "a" * 9000,
    "é",
    "\xff\xfe",
    "0",
    "-1",
    "1e3",
    "=?base64?!?=",
    "\0",
]
VALUES += ["*/*", "application/json", "application/json; charset=utf-16", "text/plain", "null"]
VALUES += ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "gzip"]
VALUES += ["http://evil.example", "http://testserver", "cross-site", "same-origin", "chunked"]
VALUES += ["Token", "Token a b", "Bearer x", "Basic Og==", "Basic %%%", "Digest", "Token \xff"]
VALUES += ["2026-07-28", "2025-03-26", "2025-11-25, 2025-06-18", "2099-01-01", "tools/call"]
VALUES += ["sessionid=x; csrftoken=y", "evil.example", "testserver:99999", "[::1", "de-AT,*;q=x"]
HEADERS = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Content-Type"]
HEADERS += ["Content-Length", "Transfer-Encoding", "Content-Encoding", "Origin", "Sec-Fetch-Site"]
HEADERS += ["Authorization", "Cookie", "Accept", "Accept-Language", "Host", "X-Forwarded-For"]
HEADERS += ["X-Forwarded-Host", "X-HTTP-Method-Override", "Range", "If-None-Match", "Expect"]
HEADERS += ["Mcp-Session-Id", "Last-Event-ID", "X-Requested-With", "User-Agent", "traceparent"]


@dataclass(frozen=True)
class Input:
    """A request to send.

    Attributes:
        recording: the request, with its message before the mutation of its bytes.
        body: the bytes to send.
        mutations: the names of the mutations, none for a valid request.
    """

    recording: Recording
    body: bytes
    mutations: tuple[str, ...] = ()


class Mutator:
    """Draws inputs: a seed and a number always give the same input."""

    def __init__(self, recordings: list[Recording], seed: int) -> None:
        self.recordings = recordings
        self.cheap = [recording for recording in recordings if not self.reaches_a_view(recording)]
        self.seed = seed
        self.random = random.Random()

    def draw(self, number: int) -> Input:
        """Return an input with up to three mutations; one in ten has none."""
        self.random.seed(f"{self.seed}-{number}")
        # Most faults of the endpoint occur before a view runs, and views take most of the time.
        chosen = self.cheap if self.random.random() < 0.5 else self.recordings
        recording, body, names = self.random.choice(chosen), None, []
        for _ in range(self.random.choices(range(MOST + 1), (1, 5, 3, 1))[0]):
            mutate = self.random.choices(self.mutations, self.weights)[0]
            recording, body = mutate(recording, body)
            names.append(mutate.__name__)
        return Input(recording, recording.body if body is None else body, tuple(names))

    def reaches_a_view(self, recording: Recording) -> bool:
        return (recording.message or {}).get("method") == "tools/call"

    @property
    def mutations(self) -> list[Callable[..., tuple[Recording, bytes | None]]]:
        return [self.spoil_json, self.spoil_bytes, self.spoil_header, self.disguise]

    weights = (8, 3, 4, 1)

    # --- the message ----------------------------------------------------------------------

    def spoil_json(self, recording: Recording, body: bytes | None) -> tuple[Recording, None]:
        """Change one value in the message."""
        holder = [copy.deepcopy(recording.message)]
        places = list(self.find_places(holder))
        container, key = self.random.choice(places)
        edits = [self.put_nasty, self.put_nasty, self.wrap, self.remove, self.rename, self.add]
        self.random.choice(edits)(container, key)
        message = holder[0] if holder else None
        return replace(recording, message=message), None

    def find_places(self, value: Any) -> Iterator[tuple[Any, Any]]:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield value, key
            if isinstance(value[key], (dict, list)):
                yield from self.find_places(value[key])

    def put_nasty(self, container: Any, key: Any) -> None:
        container[key] = copy.deepcopy(self.random.choice(NASTY))

    def wrap(self, container: Any, key: Any) -> None:
        value = container[key]
        for _ in range(self.random.choice((1, 2, 90, 130))):
            value = [value] if self.random.random() < 0.5 else {"a": value}
        container[key] = value

    def remove(self, container: Any, key: Any) -> None:
        del container[key]

    def rename(self, container: Any, key: Any) -> None:
        value = container[key]
        if isinstance(container, dict):
            del container[key]
            container[self.random.choice([*NAMES, f"{key}x", str(key)[:-1]])] = value
        else:
            container.append(value)

    def add(self, container: Any, key: Any) -> None:
        nasty = copy.deepcopy(self.random.choice(NASTY))
        if isinstance(container, dict):
            container[self.random.choice(NAMES)] = nasty
        else:
            container.insert(key, nasty)

    # --- the bytes ------------------------------------------------------------------------

    def spoil_bytes(self, recording: Recording, body: bytes | None) -> tuple[Recording, bytes]:
        """Change bytes, without regard to the JSON."""
        content = recording.body if body is None else body
        edits = [self.flip, self.cut, self.repeat, self.insert, self.recode, self.make_noise]
        return recording, self.random.choice(edits)(content)

    def flip(self, content: bytes) -> bytes:
        mutated = bytearray(content or b" ")
        mutated[self.random.randrange(len(mutated))] ^= 1 << self.random.randrange(8)
        return bytes(mutated)

    def cut(self, content: bytes) -> bytes:
        start, end = sorted(self.random.randrange(len(content) + 1) for _ in range(2))
        return content[:start] + content[end:]

    def repeat(self, content: bytes) -> bytes:
        start, end = sorted(self.random.randrange(len(content) + 1) for _ in range(2))
        return content[:end] + content[start:end] * self.random.randrange(1, 9) + content[end:]

    def insert(self, content: bytes) -> bytes:
        start = self.random.randrange(len(content) + 1)
        pieces = [
            b"\0",
            b"\xff",
            b"{",
            b"]",
            b'"',
            b",",
            b"\\ud800",
            b"NaN",
            b"9" * 5000,
            b"[" * 999,
        ]
        pieces += [b'"id":1,', b'"method":"ping",', b"\xef\xbb\xbf", b"\xed\xa0\x80", b"[" * 999]
        return content[:start] + self.random.choice(pieces) + content[start:]

    def recode(self, content: bytes) -> bytes:
        text = content.decode(errors="replace")
        encoding = self.random.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7", "cp500"])
        return text.encode(encoding, errors="replace")

    def make_noise(self, content: bytes) -> bytes:
        return self.random.randbytes(self.random.choice((0, 1, 7, 300)))

    # --- around the message ---------------------------------------------------------------

    def spoil_header(
        self, recording: Recording, body: bytes | None
    ) -> tuple[Recording, bytes | None]:
        """Change, add or remove a header."""
        headers = dict(recording.headers)
        if headers and self.random.random() < 0.3:
            del headers[self.random.choice(sorted(headers))]
        else:
            headers[self.random.choice(HEADERS)] = self.random.choice(VALUES)
        return replace(recording, headers=headers), body

    def disguise(self, recording: Recording, body: bytes | None) -> tuple[Recording, bytes | None]:
        """Send with another method, to another path, or without a credential."""
        headers = dict(recording.headers)
        if self.random.random() < 0.5:
            headers.pop("Authorization", None)
            return replace(recording, headers=headers, username=None), body
        method = self.random.choice(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"])
        path = self.random.choice(["/mcp", "/mcp/", "/library/mcp"])
        return replace(recording, method=method, path=path), body
