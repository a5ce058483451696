"""``python -m benchmarks.megabytes``: long answers and files, compared with plain HTTP.

Each request runs in a process of its own, so that the memory of the process shows the peak. The
answers are shortened to the budget, and archived.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import ctypes
import gc
import io
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

from benchmarks.__main__ import seed, write

KINDS = ("rows", "page", "text", "numbers", "upload")
ENVELOPES = ("ResponseV2", "Ok", "Status", "Plain")
MILLION = 1_000_000
SMALL = 2_000
BOUNDARY = "boundary-of-the-benchmark"
REFUSED = (b'"isError":true', b'"error":{"code":-')


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.megabytes", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--size", type=float, default=50, help="megabytes of an answer")
    parser.add_argument("--upload", type=float, default=20, help="megabytes of a file")
    parser.add_argument("--envelopes", default=",".join(ENVELOPES))
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        kind, door, envelope, size = asked.one
        write(json.dumps(measure(kind, door, envelope, int(size))))
        return
    write("| | MB | CPU s | of | ratio | memory MB | of | ratio |")
    write("|---|--:|--:|--:|--:|--:|--:|--:|")
    for kind in asked.kinds or KINDS:
        megabytes = asked.upload if kind == "upload" else asked.size
        for line in compare(kind, int(megabytes * MILLION), asked.envelopes.split(",")):
            write(line)


def compare(kind: str, size: int, envelopes: list[str]) -> Iterator[str]:
    """Yield the lines of one kind of content: one for each envelope, then one for a slice."""
    plain = run(kind, "http", envelopes[0], size)
    pairs = [(envelope, "mcp") for envelope in envelopes[: 1 if kind == "upload" else None]]
    if kind != "upload":
        pairs.append((envelopes[0], "slice"))
    for envelope, door in pairs:
        found = run(kind, door, envelope, size)
        cells = [f"{kind}, {envelope if door == 'mcp' else door}", f"{size / MILLION:g}"]
        for name in ("seconds", "memory"):
            ratio = found[name] / max(plain[name], 0.001)
            cells += [f"{found[name]:.2f}", f"{plain[name]:.2f}", f"{ratio:.2f}"]
        yield f"| {' | '.join(cells)} |"


def run(kind: str, door: str, envelope: str, size: int) -> dict[str, float]:
    """Return the figures of one request, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.megabytes", "--one"]
    command += [kind, door, envelope, str(size)]
    # Without this the GNU C library keeps freed memory, and the peak is higher than what is in use.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(MILLION)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure(kind: str, door: str, envelope: str, size: int) -> dict[str, float]:
    """Send one request in this process: first a small one, then one of this size."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    django.setup()
    from django.test import override_settings

    from benchmarks.requests import Client, Server

    override_settings(**make_settings(envelope, size)).enable()
    seed()
    server, client = Server(), Client.of("alice")
    if door == "slice":
        # Not rolled back: the slice of the archived content is a request of its own.
        answer = server.answer(make_request(client, kind, "mcp", size).environment())
        request = make_slice(client, answer[1])
    else:
        server.send(make_request(client, kind, door, SMALL))
        request = make_request(client, kind, door, size)
    environment = request.environment()
    del request
    # The memory before the request is subtracted, although the request may use some of it again.
    trim_memory()
    before, started = read_memory("VmRSS"), time.process_time()
    status, content = server.answer(environment)
    seconds = time.process_time() - started
    if status >= 400 or any(mark in content for mark in REFUSED):
        raise RuntimeError(f"{kind} by {door} was refused: {content[:500]!r}")
    memory = read_memory("VmHWM") - before
    return {"seconds": seconds, "memory": memory}


def make_settings(envelope: str, size: int) -> dict[str, Any]:
    """Return settings that allow answers and uploads of this size."""
    from django.conf import settings

    limit = 3 * size + MILLION
    served = {
        **settings.DRF_MCP,
        "EXPOSE": "urlconf",
        "INCLUDE": ["/megabytes/*", "/uploads/*"],
        "ENVELOPE_CLASS": f"drf_mcp.envelopes.{envelope}Envelope",
        "MAX_BODY_BYTES": limit,
        "MAX_UPLOAD_BYTES": limit,
    }
    limits = ("DATA_UPLOAD_MAX_MEMORY_SIZE", "FILE_UPLOAD_MAX_MEMORY_SIZE")
    return {"DRF_MCP": served, **dict.fromkeys(limits, limit)}


def make_request(client: Any, kind: str, door: str, size: int) -> Any:
    """Return the request for, or with, this many bytes."""
    if kind != "upload":
        if door == "http":
            return client.plain("GET", f"/megabytes/{kind}/{size}/")
        return client.call("megabytes", {"kind": kind, "size": size})
    content = os.urandom(size)
    if door == "http":
        return MultiPart(client, content)
    text = base64.b64encode(content).decode()
    return client.call("uploads", {"file": f"data:image/png;name=a.png;base64,{text}"})


def make_slice(client: Any, content: bytes) -> Any:
    """Return the request for a slice from the middle of what an answer left out."""
    result = json.loads(content)["result"]
    (archive_id,) = result["structuredContent"]["meta"]["content_archive_hashes"]
    return client.call("content_retrieve", {"archive_id": archive_id, "offset": 5_000})


class MultiPart:
    """A file upload as a browser sends it."""

    def __init__(self, client: Any, content: bytes) -> None:
        self.plain, self.content = client.plain("POST", "/uploads/", body={}), content
        self.settings: dict[str, Any] = {}

    def environment(self) -> dict[str, Any]:
        """Return a new WSGI environment."""
        head = b'\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n'
        kind, boundary = b"Content-Type: image/png\r\n\r\n", b"--" + BOUNDARY.encode()
        body = b"".join([boundary, head, kind, self.content, b"\r\n", boundary, b"--\r\n"])
        return {
            **self.plain.environment(),
            "CONTENT_TYPE": f"multipart/form-data; boundary={BOUNDARY}",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }


def trim_memory() -> None:
    """Return free memory to the system, and reset the peak where the system can."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def read_memory(name: str) -> float:
    """Return the megabytes in use (VmRSS) or at the peak (VmHWM)."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
