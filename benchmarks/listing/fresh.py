"""``python -m benchmarks.listing.fresh``: the first list of a fresh process, and its memory.

Each figure is measured in two processes: one describes the tools, the other starts with the file
that ``manage.py mcp_warm`` wrote.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

HEADING = """
| tools | first list, CPU s | with the file | first search | with the file | kB kept a tool |
|--:|--:|--:|--:|--:|--:|"""
SETTINGS = "benchmarks.listing.many_settings"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.listing.fresh")
    parser.add_argument("--tools", default="300,1002,1500", help="tools of the projects")
    parser.add_argument("--measure", choices=("list", "search", "kept"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure:
        sys.stdout.write(str(measure(asked.measure)))
        return
    sys.stdout.write(HEADING + "\n")
    for tools in asked.tools.split(","):
        figures = [*compare("list", tools), *compare("search", tools, TOOL_SEARCH="1")]
        cells = [tools, *(f"{figure:.2f}" for figure in figures)]
        cells.append(f"{run('kept', TOOLS=tools) / 1000:.1f}")
        sys.stdout.write(f"| {' | '.join(cells)} |\n")


def compare(what: str, tools: str, **environment: str) -> Iterator[float]:
    """Yield the seconds of a process without the file and of a process with it."""
    environment["TOOLS"] = tools
    yield run(what, **environment)
    with tempfile.TemporaryDirectory() as folder:
        environment["DESCRIPTIONS_FILE"] = str(Path(folder, "descriptions.json"))
        run_command("-m", "django", "mcp_warm", **environment)
        yield run(what, **environment)


def run(what: str, **environment: str) -> float:
    arguments = ("-m", "benchmarks.listing.fresh", "--measure", what)
    return float(run_command(*arguments, **environment))


def run_command(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": SETTINGS, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def measure(what: str) -> float:
    """Return the seconds of this process's first list or search, or the bytes kept per tool."""
    import django

    django.setup()
    from benchmarks.__main__ import seed

    seed()
    from benchmarks.listing.projects import make_clients
    from benchmarks.requests import Server
    from drf_mcp.contrib.search.tool_index import ToolIndex
    from drf_mcp.tools import registry

    server, request = Server(), make_clients(1)[0].listing()
    if what == "kept":
        registry.tools()
        gc.collect()
        tracemalloc.start()
    started = time.process_time()
    if what == "search":
        ToolIndex.rank(registry, registry.tools()).find("refund an order")
    else:
        server.answer(request.environment())
    seconds = time.process_time() - started
    if what == "kept":
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / len(registry.tools())
    return seconds


if __name__ == "__main__":
    main()
