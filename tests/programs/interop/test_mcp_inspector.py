"""``manage.py mcp_inspector`` with the real Inspector, in its own terminal and on its page."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.interop.servers import ROOT, free_port


@pytest.fixture
def start(uvicorn, node_modules, tmp_path):
    """Start the command as alice, where npx finds the Inspector that is installed."""
    processes = []

    def begin(*words: str) -> subprocess.Popen:
        own = {
            "HOME": str(tmp_path),
            "TMPDIR": str(tmp_path),
            "PATH": f"{node_modules / '.bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "MCP_AUTO_OPEN_ENABLED": "false",
            "CLIENT_PORT": str(free_port()),
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, ROOT / "manage.py", "mcp_inspector", "--as", "alice", *words],
                cwd=node_modules.parent,
                env={**uvicorn.shop.environment, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1]

    yield begin
    for process in processes:
        process.terminate()
        process.communicate(timeout=60)


def count_open_tokens(uvicorn) -> int:
    connection = sqlite3.connect(uvicorn.shop.database)
    rows = connection.execute("SELECT revoked FROM drf_mcp_tokens_agenttoken").fetchall()
    connection.close()
    return rows.count((None,))


@pytest.mark.parametrize("way", ["--url", "--stdio"])
def test_the_inspector_calls_a_tool_as_the_user(uvicorn, start, way):
    call = ["--method", "tools/call", "--tool-name", "customers_list", "--tool-arg", "page_size=1"]
    words = [way, uvicorn.url] if way == "--url" else [way]
    process = start(*words, "--cli", *call)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(printed)["structuredContent"]["meta"]["pagination"]["total_count"] == 30
    assert count_open_tokens(uvicorn) == 0


def test_the_token_is_in_a_file_of_its_owner_and_ends_with_the_inspector(uvicorn, start, tmp_path):
    process = start("--url", uvicorn.url)
    while "up and running" not in process.stdout.readline():
        assert process.poll() is None, process.stderr.read()
    (file,) = tmp_path.glob("drf_mcp_inspector_*/mcp.json")
    assert file.stat().st_mode & 0o777 == 0o600
    (server,) = json.loads(file.read_text())["mcpServers"].values()
    token = server["headers"]["Authorization"].split()[1]
    command_lines = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline")]
    assert any(str(file).encode() in line for line in command_lines)
    assert not any(token.encode() in line for line in command_lines)
    assert count_open_tokens(uvicorn) == 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert not file.exists()
    assert count_open_tokens(uvicorn) == 0
