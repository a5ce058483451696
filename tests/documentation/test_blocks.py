"""Snippets, files and commands on the pages work, and commands print what the pages show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.pages import ROOT, Block, blocks, commands, find_faults, name_of, pages

PAGES = pages()
# The pages that are not tried, and why. A page that could be tried fails.
EXCUSED = {
    "docs/tutorial.md": "it makes a project of its own, which test_tutorial.py runs",
    "docs/tutorial_production.md": "it goes on with the project of docs/tutorial.md",
    "docs/sign_in_allauth.md": "it needs a project of its own, which test_allauth.py runs",
}


def is_excused(page: Path) -> bool:
    return name_of(page) in EXCUSED


class Pages:
    """Tries pages in a process that has already set the project up."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process
        self.found: dict[Path, list[tuple[int, str]]] = {}

    def failures(self, page: Path) -> list[tuple[int, str]]:
        if page not in self.found:
            self.process.stdin.write(f"{name_of(page)}\n")
            self.process.stdin.flush()
            self.found[page] = json.loads(self.process.stdout.readline())
        return self.found[page]


@pytest.fixture(scope="module")
def tried() -> Iterator[Pages]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.documentation.trying"],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Pages(process)


def has_something_to_try(page: Path) -> bool:
    shown = any(block.language == "python" for block in blocks(page)) or bool(commands(page))
    return shown and not is_excused(page)


def test_the_code_on_pages_works(tried):
    failures = [
        f"{name_of(page)}:{line} {message}"
        for page in filter(has_something_to_try, PAGES)
        for line, message in tried.failures(page)
    ]
    assert not failures, "\n\n".join(failures)


def read_block(block: Block) -> str | None:
    """Return why a block is not valid in its language, None if it is."""
    try:
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "python":
            compile(block.text, "", "exec")
    except (ValueError, SyntaxError) as exc:
        return f"{block.line}: {exc}"
    prompted = block.language != "console" or block.text.startswith("$ ")
    return None if prompted else f"{block.line}: no prompt"


def test_every_block_is_valid_in_its_language():
    assert find_faults(lambda page: [*filter(None, map(read_block, blocks(page)))], PAGES) == {}


def shown_tests(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.is_test]


def test_the_tests_that_pages_show_pass(tmp_path):
    for page in PAGES:
        if is_excused(page) or not shown_tests(page):
            continue
        folder = tmp_path / page.stem
        folder.mkdir()
        for block in shown_tests(page):
            (folder / f"test_{block.line}.py").write_text(block.text)
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "shown_fixtures.py").read_text())
    done = subprocess.run(
        [
            *[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
            *["-p", "no:xdist", "--ds=tests.settings", "--import-mode=importlib"],
            *[f"--rootdir={tmp_path}", str(tmp_path)],
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
