"""Commands in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from drf_mcp.management.console import CLOSED_PIPE
from tests.programs.interop.servers import ROOT


@pytest.mark.parametrize("arguments", [("mcp_tools", "--json"), ("mcp_config", "all")])
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
