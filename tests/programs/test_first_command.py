"""``.ci/first_command.py`` finds out whether a demo works; here it runs demos that do not.

Each demo is a repository with a README and a Makefile that has a few lines of shell.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.programs.interop.servers import ROOT

SCRIPT = ROOT / ".ci" / "first_command.py"
MINOR = sys.version_info.minor
README = "# A project\n\n```console\n$ make demo     # a shop\n```\n"
# Answers HTTP requests at the given port, but not as an MCP server.
SERVER = "python3 -m http.server --bind 127.0.0.1 $(PORT)"
CONFIGURATION = (
    '@printf \'{"mcpServers": {"shop": {"url": "http://127.0.0.1:%s/mcp", "headers": {}}}}\\n\''
    ' "$(PORT)"'
)


@pytest.fixture
def interpreters(tmp_path) -> dict[str, str]:
    """An environment with one interpreter that works and one that does not."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / f"python3.{MINOR}").symlink_to(sys.executable)
    shim = folder / "python3.11" if MINOR != 11 else folder / "python3.12"
    shim.write_text("#!/bin/sh\necho 'not selected' >&2\nexit 127\n")
    shim.chmod(0o755)
    system = os.pathsep.join(["/usr/bin", "/bin"])
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{system}", "PYENV_ROOT": str(tmp_path)}


def run_demo(folder: Path, environment: dict[str, str], *demo: str, readme: str = README):
    """Run the script for a repository whose demo runs these commands."""
    checkout = folder / "checkout"
    checkout.mkdir()
    (checkout / "README.md").write_text(readme)
    (checkout / "Makefile").write_text("demo:\n" + "".join(f"\t{line}\n" for line in demo))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *command], cwd=checkout, check=True)
    return subprocess.run(
        [sys.executable, SCRIPT, "--checkout", checkout, "--seconds", "5", "--minor", str(MINOR)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )


def assert_failed(process: subprocess.CompletedProcess[str], reason: str) -> None:
    """Assert that the script failed for this reason."""
    assert process.returncode == 1
    version = ".".join(map(str, sys.version_info[:3]))
    first = process.stdout.splitlines()[0]
    assert first.startswith(f"CPython {version}: FAILED: "), process.stdout + process.stderr
    assert reason in first


def test_a_demo_that_ends_is_a_failure_with_its_output(tmp_path, interpreters):
    process = run_demo(tmp_path, interpreters, "@echo unable to open database file", "@exit 3")
    assert_failed(process, "`make demo` ended with status 2")
    assert "    unable to open database file" in process.stdout


def test_a_demo_that_does_not_serve_is_a_failure(tmp_path, interpreters):
    assert_failed(run_demo(tmp_path, interpreters, "sleep 60"), "did not serve within 5 s")


def test_a_demo_that_prints_no_configuration_is_a_failure(tmp_path, interpreters):
    assert_failed(run_demo(tmp_path, interpreters, SERVER), "prints no configuration")


def test_a_demo_that_serves_no_mcp_is_a_failure(tmp_path, interpreters):
    process = run_demo(tmp_path, interpreters, CONFIGURATION, SERVER)
    assert process.returncode == 1
    assert "FAILED" in process.stdout


def test_a_readme_without_the_command_is_a_failure(tmp_path, interpreters):
    process = run_demo(tmp_path, interpreters, SERVER, readme="# A project\n")
    assert_failed(process, "the README shows no command")


def test_all_processes_of_a_demo_are_ended(tmp_path, interpreters):
    """Both the server and the processes in the background."""
    started = tmp_path / "started"
    process = run_demo(tmp_path, interpreters, f"@sleep 600 & echo $$! > {started}", "@sleep 600")
    assert_failed(process, "did not serve")
    number = int(started.read_text())
    deadline = time.monotonic() + 10
    while runs(number) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(number)


def runs(number: int) -> bool:
    """Return whether a process runs. One that ended may still wait for its parent."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_the_demo_gets_an_interpreter_a_port_and_the_environment_of_a_django_developer(
    tmp_path, interpreters
):
    shown = '@echo "[$(PYTHON)] [$(PORT)] [$$DJANGO_SETTINGS_MODULE] [$$PYTHONPATH] [$(PWD)]"'
    environment = {
        **interpreters,
        "PYTHONPATH": str(tmp_path),
        "PORT": "80",
    }
    process = run_demo(tmp_path, environment, shown, "@exit 1")
    python, port, settings, path, place = re.findall(r"\[([^]]*)\]", process.stdout)[:5]
    assert re.fullmatch(rf".*/python3(\.{MINOR})?", python)
    assert 1024 < int(port) < 65536
    assert settings == "their.own.settings"
    assert path == ""
    assert " " in Path(place).name


def test_a_missing_interpreter_is_named(tmp_path, interpreters):
    process = subprocess.run(
        [sys.executable, SCRIPT, "--minor", "10" if MINOR != 10 else "11"],
        env={**interpreters, "PATH": interpreters["PATH"].split(os.pathsep)[0]},
        capture_output=True,
        encoding="utf-8",
    )
    assert process.returncode == 1
    assert "Not installed, not tried: CPython 3.1" in process.stdout


def test_the_first_command_of_the_readme_is_make_demo():
    """Continuous integration runs this command."""
    first = re.search(r"^\$ (.+)$", (ROOT / "README.md").read_text(), re.M)[1]
    assert first.split("#")[0].strip() == "make demo"
    assert re.search(r"^make first-command\b", (ROOT / ".ci" / "jobs").read_text(), re.M)
