"""Progress arrives during a call, so that a client with a short timeout waits for its answer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.programs.interop.counting_urls import SECONDS, STEPS

SCRIPT = Path(__file__).with_name("typescript_progress.cjs")
# Shorter than the call, and longer than one of its steps.
TIMEOUT = 1500
CLIENTS = [("sdk", "2025-11-25"), ("client", "2025-11-25"), ("client", "2026-07-28")]


@pytest.mark.parametrize(
    "kind",
    [
        "threads",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("uvicorn", "waitress")),
        pytest.param("runserver", marks=pytest.mark.nightly),
    ],
)
def test_a_client_waits_while_progress_arrives(server_of, node_modules, kind, subtests):
    assert STEPS * SECONDS * 1000 > TIMEOUT > SECONDS * 1000
    server = server_of(kind, settings="tests.programs.interop.counting_settings")
    clients = {
        client: subprocess.Popen(
            [
                node_modules / ".bin" / "node",
                *(SCRIPT, *client, server.url, server.shop.tokens["alice"], str(TIMEOUT)),
            ],
            env={**os.environ, "NODE_PATH": str(node_modules)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for client in CLIENTS
    }
    for (sdk, revision), process in clients.items():
        printed, _ = process.communicate(timeout=60)
        with subtests.test(sdk=sdk, revision=revision):
            assert process.returncode == 0
            seen = json.loads(printed)
            assert seen["data"] == {"counted": STEPS}
            assert [number for number, _ in seen["progress"]] == list(range(1, STEPS + 1))
            first, last = seen["progress"][0][1], seen["progress"][-1][1]
            assert last - first > (STEPS - 2) * SECONDS * 1000
