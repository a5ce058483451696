"""The clients that ``mcp_client`` writes are checked by compilers and answered by servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drf_mcp.contrib.clients.writers import PythonWriter, TypeScriptWriter
from tests.contrib.clients.writing import AWKWARD_SCHEMA, AWKWARD_TEXT, write_client
from tests.programs.interop.servers import ROOT

PROGRAMS = {"python": "typed_python.py", "typescript": "typed_typescript.ts"}
SUFFIXES = {"python": ".py", "typescript": ".ts"}
NOTHING = {"type": "object", "properties": {}}
AWKWARD = {
    "import": (AWKWARD_SCHEMA, {"type": "array", "items": AWKWARD_SCHEMA}),
    "list": (AWKWARD_SCHEMA, {"type": "array", "items": {"type": ["integer", "null"]}}),
    "a-b": (NOTHING, {"type": "null"}),
    "a_b": ({**AWKWARD_SCHEMA, "additionalProperties": True}, {"enum": [1, True, None, "x"]}),
    "typed_dict": (NOTHING, {"type": "object", "additionalProperties": {"type": "integer"}}),
}


@pytest.fixture(scope="module")
def write(shop, tmp_path_factory):
    """Write alice's client and the program that uses it into one folder."""

    def write(language: str) -> Path:
        folder = tmp_path_factory.mktemp(language)
        client = folder / f"shop_client{SUFFIXES[language]}"
        command = [sys.executable, "manage.py", "mcp_client", language, "--as", "alice"]
        command += ["--output", str(client)]
        subprocess.run(command, cwd=ROOT, env=shop.environment, check=True)
        program = Path(__file__).with_name(PROGRAMS[language])
        (folder / program.name).write_text(program.read_text())
        return folder

    return write


def run(command: list[object], folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", "NODE_NO_WARNINGS": "1"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def check_python(tmp_path_factory) -> Callable[[Path], None]:
    """Check the types in a folder; the cache keeps what was found of the standard library."""
    cache = tmp_path_factory.mktemp("mypy")

    def check(folder: Path) -> None:
        command = ["-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "."]
        run([sys.executable, *command], folder)

    return check


def check_typescript(folder: Path, node_modules: Path) -> None:
    (folder / "node_modules").symlink_to(node_modules)
    (folder / "package.json").write_text('{"type": "module"}')
    command = [node_modules / ".bin" / "tsc", "--strict", "--noEmit", "--skipLibCheck"]
    # Node.js can only run TypeScript whose types can be erased.
    command += ["--erasableSyntaxOnly", "--allowImportingTsExtensions"]
    command += ["--module", "nodenext", "--target", "es2022", *sorted(folder.glob("*.ts"))]
    run(command, folder)


def assert_answers(seen: dict[str, object]) -> None:
    assert seen["first"] != seen["second"]
    assert seen["subject"] == "Late"
    code, pointers, message, remediation = seen["caught"]
    assert (code, pointers) == ("VALIDATION_ERROR", ["/lines/0/quantity"])
    assert "greater than or equal to 1" in message
    assert remediation.startswith("Use a larger value")


def test_a_python_program_is_checked_and_runs(write, check_python, uvicorn):
    folder = write("python")
    check_python(folder)
    program = [sys.executable, PROGRAMS["python"], uvicorn.url, uvicorn.shop.tokens["alice"]]
    assert_answers(json.loads(run(program, folder)))


def test_a_typescript_program_is_checked_and_runs(write, uvicorn, node_modules):
    folder = write("typescript")
    check_typescript(folder, node_modules)
    node = node_modules / ".bin" / "node"
    program = [node, PROGRAMS["typescript"], uvicorn.url, uvicorn.shop.tokens["alice"]]
    assert_answers(json.loads(run(program, folder)))


def test_awkward_names_are_valid_python(check_python, tmp_path):
    (tmp_path / "awkward.py").write_text(write_client(PythonWriter, AWKWARD, AWKWARD_TEXT))
    check_python(tmp_path)


def test_awkward_names_are_valid_typescript(tmp_path, node_modules):
    (tmp_path / "awkward.ts").write_text(write_client(TypeScriptWriter, AWKWARD, AWKWARD_TEXT))
    check_typescript(tmp_path, node_modules)


def test_a_wrong_argument_is_found_by_the_type_checker(write, check_python):
    folder = write("python")
    program = folder / PROGRAMS["python"]
    program.write_text(program.read_text().replace("page_size=1,", 'page_size="1",'))
    with pytest.raises(AssertionError, match="incompatible type"):
        check_python(folder)
