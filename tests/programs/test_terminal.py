"""Commands in a shell: pipes and completion."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from drf_mcp.management.console import CLOSED_PIPE
from tests.documentation.pages import ROOT
from tests.management.test_terminal import run_command


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("python manage.py mcp_call orders_re", ["orders_refund", "orders_retrieve"]),
        ("./manage.py mcp_tools orders_re", ["orders_refund", "orders_retrieve"]),
        ("python manage.py migrate orders_re", []),
    ],
)
def test_bash_completes_the_names_of_tools(tmp_path, line, completed):
    script = run_command("mcp_tools", "completion", "bash")
    # A script in place of the project, so that Django is not started for each line.
    fake = tmp_path / "manage.py"
    fake.write_text("#!/bin/sh\necho orders_refund; echo orders_retrieve; echo tickets_list\n")
    fake.chmod(0o755)
    (tmp_path / "python").write_text('#!/bin/sh\nexec "./$1"\n')
    (tmp_path / "python").chmod(0o755)
    words = line.split()
    ask = (
        f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
        '_drf_mcp_tools; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", ask],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.stdout.split() == completed


@pytest.mark.parametrize(
    "arguments", [("mcp_tools", "--json"), ("mcp_tools",), ("mcp_config", "all")]
)
def test_a_closed_pipe_ends_a_command_quietly(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert done.returncode == CLOSED_PIPE
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_the_completion_script_reads_the_names_of_the_project():
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp_tools", "list", "--names"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "orders_refund" in done.stdout.split()
